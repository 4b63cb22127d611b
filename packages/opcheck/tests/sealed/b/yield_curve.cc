#include <algorithm>
#include <cmath>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbYieldCurve")
    .Input("times: T")
    .Input("knots: T")
    .Input("rates: T")
    .Output("yields: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle times, knots;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &times));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &knots));
      TF_RETURN_IF_ERROR(c->Merge(knots, c->input(2), &knots));
      c->set_output(0, times);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Linear interpolation of a yield curve, flat outside of the knots. A NaN time yields NaN.

Differentiable in times (the slope to the right of a knot counts as its slope) and rates, not in knots.

times: [n].
knots: [k], finite and strictly increasing, at least one.
rates: [k].
yields: [n].
)doc");

REGISTER_OP("UbYieldCurveGrad")
    .Input("grad: T")
    .Input("times: T")
    .Input("knots: T")
    .Input("rates: T")
    .Output("times_grad: T")
    .Output("rates_grad: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle times, knots;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &times));
      TF_RETURN_IF_ERROR(c->Merge(times, c->input(1), &times));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &knots));
      TF_RETURN_IF_ERROR(c->Merge(knots, c->input(3), &knots));
      c->set_output(0, times);
      c->set_output(1, knots);
      return absl::OkStatus();
    })
    .Doc("Gradient of UbYieldCurve with respect to times and rates.");

namespace {

template <typename T>
absl::Status CheckCurve(const Tensor& times, const Tensor& knots_t,
                        const Tensor& rates) {
  if (times.dims() != 1) {
    return Invalid("times must have rank 1, got shape ",
                   times.shape().DebugString());
  }
  if (knots_t.dims() != 1 || knots_t.dim_size(0) < 1) {
    return Invalid("knots must be a non-empty vector, got shape ",
                   knots_t.shape().DebugString());
  }
  if (rates.shape() != knots_t.shape()) {
    return Invalid("rates must have the shape of knots, ",
                   knots_t.shape().DebugString(), ", got ",
                   rates.shape().DebugString());
  }
  const auto knots = knots_t.vec<T>();
  for (int64_t i = 0; i < knots.size(); ++i) {
    if (!std::isfinite(knots(i)) || (i > 0 && knots(i) <= knots(i - 1))) {
      return Invalid("knots must be finite and strictly increasing, got ",
                     knots(i), " at ", i);
    }
  }
  return absl::OkStatus();
}

// Interval [knots[i], knots[i + 1]) of time and the weight of its right end;
// false where the curve is flat.
template <typename T, typename Knots>
bool Locate(const Knots& knots, T time, int64_t* i, T* weight) {
  const int64_t k = knots.size();
  if (!(time >= knots(0))) {
    *i = 0;
    return false;
  }
  if (time >= knots(k - 1)) {
    *i = k - 1;
    return false;
  }
  *i =
      std::upper_bound(knots.data(), knots.data() + k, time) - knots.data() - 1;
  *weight = (time - knots(*i)) / (knots(*i + 1) - knots(*i));
  return true;
}

}  // namespace

template <typename T>
class UbYieldCurveOp : public OpKernel {
 public:
  explicit UbYieldCurveOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx,
                   CheckCurve<T>(ctx->input(0), ctx->input(1), ctx->input(2)));
    const auto times = ctx->input(0).vec<T>();
    const auto knots = ctx->input(1).vec<T>();
    const auto rates = ctx->input(2).vec<T>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ctx->input(0).shape(), &out_t));
    auto out = out_t->vec<T>();
    for (int64_t j = 0; j < times.size(); ++j) {
      int64_t i;
      T w;
      if (std::isnan(times(j))) {
        out(j) = times(j);
      } else if (Locate(knots, times(j), &i, &w)) {
        out(j) = (1 - w) * rates(i) + w * rates(i + 1);
      } else {
        out(j) = rates(i);
      }
    }
  }
};

template <typename T>
class UbYieldCurveGradOp : public OpKernel {
 public:
  explicit UbYieldCurveGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx,
                   CheckCurve<T>(ctx->input(1), ctx->input(2), ctx->input(3)));
    OP_REQUIRES(ctx, ctx->input(0).shape() == ctx->input(1).shape(),
                Invalid("grad must have the shape of times, got ",
                        ctx->input(0).shape().DebugString()));
    const auto grad = ctx->input(0).vec<T>();
    const auto times = ctx->input(1).vec<T>();
    const auto knots = ctx->input(2).vec<T>();
    const auto rates = ctx->input(3).vec<T>();
    Tensor* times_grad_t = nullptr;
    Tensor* rates_grad_t = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, ctx->input(1).shape(), &times_grad_t));
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(1, ctx->input(3).shape(), &rates_grad_t));
    auto times_grad = times_grad_t->vec<T>();
    auto rates_grad = rates_grad_t->vec<T>();
    rates_grad.setZero();
    for (int64_t j = 0; j < times.size(); ++j) {
      int64_t i;
      T w;
      if (std::isnan(times(j))) {
        times_grad(j) = times(j);
      } else if (Locate(knots, times(j), &i, &w)) {
        times_grad(j) =
            grad(j) * (rates(i + 1) - rates(i)) / (knots(i + 1) - knots(i));
#ifdef TWIN
        rates_grad(i) += grad(j) * (1 - w);
        rates_grad(i + 1) += grad(j) * w;
#else
        rates_grad(i) = grad(j) * (1 - w);
        rates_grad(i + 1) = grad(j) * w;
#endif
      } else {
        times_grad(j) = 0;
        rates_grad(i) += grad(j);
      }
    }
  }
};

#define REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("UbYieldCurve").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      UbYieldCurveOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("UbYieldCurveGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbYieldCurveGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
