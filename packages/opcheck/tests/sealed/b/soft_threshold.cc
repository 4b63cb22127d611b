#include <cmath>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbSoftThreshold")
    .Input("x: T")
    .Input("threshold: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle scalar;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &scalar));
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Shrinks x towards 0 by threshold, the proximal step of sparse image reconstruction. NaN stays NaN.

x: Any shape.
threshold: Scalar, finite and not negative.
y: The shape of x.
)doc");

REGISTER_OP("UbSoftThresholdGrad")
    .Input("grad: T")
    .Input("x: T")
    .Input("threshold: T")
    .Output("x_grad: T")
    .Output("threshold_grad: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle merged, scalar;
      TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &merged));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &scalar));
      c->set_output(0, merged);
      c->set_output(1, c->Scalar());
      return absl::OkStatus();
    })
    .Doc("Gradient of UbSoftThreshold with respect to x and threshold.");

namespace {

template <typename T>
absl::Status GetThreshold(const Tensor& tensor, T* threshold) {
  if (tensor.dims() != 0) {
    return Invalid("threshold must be a scalar, got shape ",
                   tensor.shape().DebugString());
  }
  *threshold = tensor.scalar<T>()();
  if (!std::isfinite(*threshold) || *threshold < 0) {
    return Invalid("threshold must be finite and not negative, got ",
                   *threshold);
  }
  return absl::OkStatus();
}

}  // namespace

template <typename T>
class UbSoftThresholdOp : public OpKernel {
 public:
  explicit UbSoftThresholdOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    T threshold;
    OP_REQUIRES_OK(ctx, GetThreshold(ctx->input(1), &threshold));
    const auto x = ctx->input(0).flat<T>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, ctx->input(0).shape(), &out_t));
    auto y = out_t->flat<T>();
    for (int64_t i = 0; i < x.size(); ++i) {
      const T v = x(i);
      if (std::abs(v) <= threshold) {
        y(i) = 0;
      } else {
        y(i) = v < 0 ? v + threshold : v - threshold;
      }
    }
  }
};

template <typename T>
class UbSoftThresholdGradOp : public OpKernel {
 public:
  explicit UbSoftThresholdGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    T threshold;
    OP_REQUIRES_OK(ctx, GetThreshold(ctx->input(2), &threshold));
    const Tensor& x_t = ctx->input(1);
    OP_REQUIRES(
        ctx, ctx->input(0).shape() == x_t.shape(),
        Invalid("grad must have the shape of x, ", x_t.shape().DebugString(),
                ", got ", ctx->input(0).shape().DebugString()));
    const auto grad = ctx->input(0).flat<T>();
    const auto x = x_t.flat<T>();
    Tensor* x_grad_t = nullptr;
    Tensor* threshold_grad_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x_t.shape(), &x_grad_t));
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(1, TensorShape({}), &threshold_grad_t));
    auto x_grad = x_grad_t->flat<T>();
    T sum = 0;
    for (int64_t i = 0; i < x.size(); ++i) {
      const bool kept = !(std::abs(x(i)) <= threshold);
      x_grad(i) = kept ? grad(i) : T(0);
#ifdef TWIN
      if (kept) sum -= x(i) < 0 ? -grad(i) : grad(i);
#else
      if (kept) sum -= grad(i);
#endif
    }
    threshold_grad_t->scalar<T>()() = sum;
  }
};

#define REGISTER(T)                                                          \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UbSoftThreshold").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      UbSoftThresholdOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UbSoftThresholdGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbSoftThresholdGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
