#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

namespace {

absl::Status SeriesShape(InferenceContext* c) {
  ShapeHandle series;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &series));
  c->set_output(0, series);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("UbMovingAverage")
    .Input("series: T")
    .Output("smoothed: T")
    .Attr("T: {float, double}")
    .Attr("window: int >= 1 = 3")
    .SetShapeFn(SeriesShape)
    .Doc(R"doc(
Centered moving average along the last axis; at the ends the mean of the part of the window that exists.

series: [..., steps].
smoothed: The shape of series.
window: Odd number of steps.
)doc");

REGISTER_OP("UbMovingAverageGrad")
    .Input("grad: T")
    .Output("series_grad: T")
    .Attr("T: {float, double}")
    .Attr("window: int >= 1 = 3")
    .SetShapeFn(SeriesShape)
    .Doc("Gradient of UbMovingAverage.");

class MovingAverageBase : public OpKernel {
 public:
  explicit MovingAverageBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t window;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("window", &window));
    OP_REQUIRES(ctx, window % 2 == 1,
                Invalid("window must be odd, got ", window));
    radius_ = window / 2;
  }

 protected:
  int64_t Begin(int64_t t) const { return std::max<int64_t>(t - radius_, 0); }
  int64_t End(int64_t t, int64_t n) const {
    return std::min<int64_t>(t + radius_ + 1, n);
  }

  int64_t radius_;
};

template <typename T>
class UbMovingAverageOp : public MovingAverageBase {
 public:
  using MovingAverageBase::MovingAverageBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& series = ctx->input(0);
    OP_REQUIRES(ctx, series.dims() >= 1,
                Invalid("series must have rank at least 1, got a scalar"));
    Tensor* out = nullptr;
#ifdef TWIN
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, series.shape(), &out));
#else
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, series.shape(), &out));
#endif
    if (series.NumElements() == 0) return;
    const auto x = series.flat_inner_dims<T>();
    auto y = out->flat_inner_dims<T>();
    const int64_t n = x.dimension(1);
    for (int64_t r = 0; r < x.dimension(0); ++r) {
      for (int64_t t = 0; t < n; ++t) {
        T sum = 0;
        for (int64_t s = Begin(t); s < End(t, n); ++s) sum += x(r, s);
        y(r, t) = sum / static_cast<T>(End(t, n) - Begin(t));
      }
    }
  }
};

template <typename T>
class UbMovingAverageGradOp : public MovingAverageBase {
 public:
  using MovingAverageBase::MovingAverageBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& grad = ctx->input(0);
    OP_REQUIRES(ctx, grad.dims() >= 1,
                Invalid("grad must have rank at least 1, got a scalar"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, grad.shape(), &out));
    if (grad.NumElements() == 0) return;
    const auto dy = grad.flat_inner_dims<T>();
    auto dx = out->flat_inner_dims<T>();
    const int64_t n = dy.dimension(1);
    dx.setZero();
    for (int64_t r = 0; r < dy.dimension(0); ++r) {
      for (int64_t t = 0; t < n; ++t) {
        const T share = dy(r, t) / static_cast<T>(End(t, n) - Begin(t));
        for (int64_t s = Begin(t); s < End(t, n); ++s) dx(r, s) += share;
      }
    }
  }
};

#define REGISTER(T)                                                          \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UbMovingAverage").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      UbMovingAverageOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UbMovingAverageGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbMovingAverageGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
