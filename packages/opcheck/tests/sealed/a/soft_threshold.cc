// Soft thresholding (the proximal operator of the L1 norm) and its gradient.
#include <cmath>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaSoftThreshold")
    .Input("x: T")
    .Input("threshold: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Shrinks every element towards zero: sign(x) * max(|x| - threshold, 0). NaN stays NaN.

x: Values of any shape.
threshold: Scalar, finite and not negative.
)doc");

REGISTER_OP("UaSoftThresholdGrad")
    .Input("dy: T")
    .Input("x: T")
    .Input("threshold: T")
    .Output("dx: T")
    .Output("dthreshold: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &shape));
      c->set_output(0, shape);
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &shape));
      c->set_output(1, c->Scalar());
      return absl::OkStatus();
    })
    .Doc("Gradient of UaSoftThreshold.");

absl::Status CheckThreshold(double value) {
  if (!std::isfinite(value) || value < 0) {
    return Invalid("threshold must be finite and not negative, got ", value);
  }
  return absl::OkStatus();
}

template <typename T>
class SoftThresholdOp : public OpKernel {
 public:
  explicit SoftThresholdOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const Tensor& threshold = ctx->input(1);
    OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(threshold.shape()),
                Invalid("threshold must be a scalar, got shape ",
                        threshold.shape().DebugString()));
    const T t = threshold.scalar<T>()();
    OP_REQUIRES_OK(ctx, CheckThreshold(t));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      const T a = std::abs(in(i));
      out(i) = a <= t ? T(0) : std::copysign(a - t, in(i));
    }
  }
};

template <typename T>
class SoftThresholdGradOp : public OpKernel {
 public:
  explicit SoftThresholdGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    const Tensor& x = ctx->input(1);
    const Tensor& threshold = ctx->input(2);
    OP_REQUIRES(ctx, dy.shape() == x.shape(),
                Invalid("dy must have the shape of x"));
    OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(threshold.shape()),
                Invalid("threshold must be a scalar, got shape ",
                        threshold.shape().DebugString()));
    const T t = threshold.scalar<T>()();
    OP_REQUIRES_OK(ctx, CheckThreshold(t));
    Tensor* dx = nullptr;
    Tensor* dt = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &dx));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({}), &dt));
    auto g = dy.flat<T>();
    auto in = x.flat<T>();
    auto out = dx->flat<T>();
    double sum = 0;
    for (int64_t i = 0; i < in.size(); ++i) {
      const bool active = !(std::abs(in(i)) <= t);
      out(i) = active ? g(i) : T(0);
#ifdef TWIN
      if (active)
        sum -= std::isnan(in(i)) ? in(i) : std::copysign(T(1), in(i)) * g(i);
#else
      if (active) sum -= g(i);
#endif
    }
    dt->scalar<T>()() = static_cast<T>(sum);
  }
};

#define REGISTER(T)                                                          \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UaSoftThreshold").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      SoftThresholdOp<T>);                                                   \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UaSoftThresholdGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SoftThresholdGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
