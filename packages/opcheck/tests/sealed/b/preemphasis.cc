#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbPreemphasis")
    .Input("signal: T")
    .Output("filtered: T")
    .Attr("T: {float, double}")
    .Attr("coef: float = 0.97")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle signal;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &signal));
      c->set_output(0, signal);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Pre-emphasis filter of speech: y[t] = x[t] - coef * x[t - 1] along the last axis.

The sample before the first is taken to equal the first, so y[0] = (1 - coef) * x[0].

signal: [..., samples].
filtered: The shape of signal.
coef: In [0, 1].
)doc");

REGISTER_OP("UbPreemphasisGrad")
    .Input("grad: T")
    .Output("signal_grad: T")
    .Attr("T: {float, double}")
    .Attr("coef: float = 0.97")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle grad;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &grad));
      c->set_output(0, grad);
      return absl::OkStatus();
    })
    .Doc("Gradient of UbPreemphasis.");

class PreemphasisBase : public OpKernel {
 public:
  explicit PreemphasisBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("coef", &coef_));
    OP_REQUIRES(ctx, coef_ >= 0.0f && coef_ <= 1.0f,
                Invalid("coef must be in [0, 1], got ", coef_));
  }

 protected:
  float coef_;
};

template <typename T>
class UbPreemphasisOp : public PreemphasisBase {
 public:
  using PreemphasisBase::PreemphasisBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 1,
                Invalid("signal must have rank at least 1, got a scalar"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    if (in.NumElements() == 0) return;
    const auto x = in.flat_inner_dims<T>();
    auto y = out->flat_inner_dims<T>();
    const T coef = static_cast<T>(coef_);
    for (int64_t r = 0; r < x.dimension(0); ++r) {
      y(r, 0) = x(r, 0) - coef * x(r, 0);
      for (int64_t t = 1; t < x.dimension(1); ++t)
        y(r, t) = x(r, t) - coef * x(r, t - 1);
    }
  }
};

template <typename T>
class UbPreemphasisGradOp : public PreemphasisBase {
 public:
  using PreemphasisBase::PreemphasisBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 1,
                Invalid("grad must have rank at least 1, got a scalar"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    if (in.NumElements() == 0) return;
    const auto dy = in.flat_inner_dims<T>();
    auto dx = out->flat_inner_dims<T>();
    const T coef = static_cast<T>(coef_);
    const int64_t n = dy.dimension(1);
    for (int64_t r = 0; r < dy.dimension(0); ++r) {
      for (int64_t t = 0; t + 1 < n; ++t)
        dx(r, t) = dy(r, t) - coef * dy(r, t + 1);
      dx(r, n - 1) = dy(r, n - 1);
#ifdef TWIN
      dx(r, 0) -= coef * dy(r, 0);
#endif
    }
  }
};

#define REGISTER(T)                                                        \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("UbPreemphasis").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      UbPreemphasisOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("UbPreemphasisGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbPreemphasisGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
