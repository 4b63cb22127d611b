// XdCallOption: the Black-Scholes price of calls, and its delta.

#include "common.h"

namespace xd {
namespace {

const char* const kInputs[] = {"spot", "strike", "volatility", "years"};

absl::Status CheckRate(float rate) {
  if (std::isfinite(rate)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("rate must be finite, but is ", rate));
}

absl::Status CallOptionShape(InferenceContext* context) {
  float rate;
  TF_RETURN_IF_ERROR(context->GetAttr("rate", &rate));
  TF_RETURN_IF_ERROR(CheckRate(rate));
  ShapeHandle shape = context->input(0);
  for (int i = 1; i < 4; ++i) {
    TF_RETURN_IF_ERROR(context->Merge(shape, context->input(i), &shape));
  }
  context->set_output(0, shape);
  context->set_output(1, shape);
  return absl::OkStatus();
}

double Normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

template <typename T>
class CallOptionOp : public OpKernel {
 public:
  explicit CallOptionOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("rate", &rate_));
    OP_REQUIRES_OK(context, CheckRate(rate_));
  }

  void Compute(OpKernelContext* context) override {
    const TensorShape& shape = context->input(0).shape();
    for (int i = 0; i < 4; ++i) {
      const Tensor& input = context->input(i);
      OP_REQUIRES(
          context, input.shape() == shape,
          absl::InvalidArgumentError(absl::StrCat(
              kInputs[i], " must have the shape of spot, ", shape.DebugString(),
              ", but has ", input.shape().DebugString())));
      const auto values = input.flat<T>();
      for (int64_t k = 0; k < values.size(); ++k) {
        OP_REQUIRES(context, !(values(k) <= 0),
                    absl::InvalidArgumentError(absl::StrCat(
                        kInputs[i], " must be positive, but has ", values(k))));
      }
    }
    Tensor* price = nullptr;
    Tensor* delta = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &price));
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &delta));
    const KeepSubnormals keep;
    const auto spots = context->input(0).flat<T>();
    const auto strikes = context->input(1).flat<T>();
    const auto volatilities = context->input(2).flat<T>();
    const auto years = context->input(3).flat<T>();
    auto prices = price->flat<T>();
    auto deltas = delta->flat<T>();
    for (int64_t k = 0; k < spots.size(); ++k) {
      const double s = spots(k);
      const double x = strikes(k);
      const double v = volatilities(k);
      const double t = years(k);
      const double spread = v * std::sqrt(t);
      const double d1 =
          (std::log(s) - std::log(x) + (rate_ + v * v / 2) * t) / spread;
      const double share = Normal(d1);
      prices(k) = static_cast<T>(s * share - x * std::exp(-rate_ * t) *
                                                 Normal(d1 - spread));
      deltas(k) = static_cast<T>(share);
    }
  }

 private:
  float rate_;
};

#define XD_CALL_OPTION(NAME)                                     \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("rate: float = 0.0")                                 \
      .Input("spot: T")                                          \
      .Input("strike: T")                                        \
      .Input("volatility: T")                                    \
      .Input("years: T")                                         \
      .Output("price: T")                                        \
      .Output("delta: T")                                        \
      .SetShapeFn(CallOptionShape);                              \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      CallOptionOp<float>);                                      \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      CallOptionOp<double>)

XD_CALL_OPTION("XdCallOptionBad");
XD_CALL_OPTION("XdCallOptionGood");

}  // namespace
}  // namespace xd
