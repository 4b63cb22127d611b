// Exponential smoothing along the last axis and its gradient.
#include <cmath>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaExpSmooth")
    .Input("x: T")
    .Input("alpha: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x, unused;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      c->set_output(0, x);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Exponential smoothing along the last axis: y[0] = x[0], y[t] = alpha * x[t] + (1 - alpha) * y[t - 1].

x: At least one-dimensional, time last.
alpha: Scalar in (0, 1].
)doc");

REGISTER_OP("UaExpSmoothGrad")
    .Input("dy: T")
    .Input("x: T")
    .Input("y: T")
    .Input("alpha: T")
    .Output("dx: T")
    .Output("dalpha: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x, unused;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &x));
      TF_RETURN_IF_ERROR(c->Merge(x, c->input(0), &x));
      TF_RETURN_IF_ERROR(c->Merge(x, c->input(2), &x));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &unused));
      c->set_output(0, x);
      c->set_output(1, c->Scalar());
      return absl::OkStatus();
    })
    .Doc("Gradient of UaExpSmooth.");

absl::Status CheckInputs(const Tensor& x, const Tensor& alpha) {
  if (x.dims() < 1) return Invalid("x must be at least one-dimensional");
  if (alpha.dims() != 0) {
    return Invalid("alpha must be a scalar, got shape ",
                   alpha.shape().DebugString());
  }
  return absl::OkStatus();
}

template <typename T>
class ExpSmoothOp : public OpKernel {
 public:
  explicit ExpSmoothOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES_OK(ctx, CheckInputs(x, ctx->input(1)));
    const T alpha = ctx->input(1).scalar<T>()();
    OP_REQUIRES(ctx, alpha > 0 && alpha <= 1,
                Invalid("alpha must be in (0, 1], got ", alpha));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    auto in = x.flat_inner_dims<T>();
    auto out = y->flat_inner_dims<T>();
    for (int64_t r = 0; r < in.dimension(0); ++r) {
      for (int64_t t = 0; t < in.dimension(1); ++t) {
        out(r, t) =
            t == 0 ? in(r, 0) : alpha * in(r, t) + (1 - alpha) * out(r, t - 1);
      }
    }
  }
};

template <typename T>
class ExpSmoothGradOp : public OpKernel {
 public:
  explicit ExpSmoothGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    const Tensor& x = ctx->input(1);
    const Tensor& y = ctx->input(2);
    OP_REQUIRES_OK(ctx, CheckInputs(x, ctx->input(3)));
    OP_REQUIRES(ctx, dy.shape() == x.shape(),
                Invalid("dy must have the shape of x"));
    OP_REQUIRES(ctx, y.shape() == x.shape(),
                Invalid("y must have the shape of x"));
    const T alpha = ctx->input(3).scalar<T>()();
    Tensor* dx = nullptr;
    Tensor* dalpha = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &dx));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({}), &dalpha));
    auto g = dy.flat_inner_dims<T>();
    auto in = x.flat_inner_dims<T>();
    auto smooth = y.flat_inner_dims<T>();
    auto out = dx->flat_inner_dims<T>();
    double sum = 0;
    for (int64_t r = 0; r < in.dimension(0); ++r) {
      T adjoint = 0;
      for (int64_t t = in.dimension(1) - 1; t >= 0; --t) {
        adjoint = g(r, t) + (1 - alpha) * adjoint;
        out(r, t) = alpha * adjoint;
        if (t > 0) sum += adjoint * (in(r, t) - smooth(r, t - 1));
      }
#ifdef TWIN
      if (in.dimension(1) > 0) out(r, 0) = adjoint;
#endif
    }
    dalpha->scalar<T>()() = static_cast<T>(sum);
  }
};

#define REGISTER(T)                                                      \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("UaExpSmooth").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      ExpSmoothOp<T>);                                                   \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("UaExpSmoothGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ExpSmoothGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
