// XdMuExpand: from mu-law codes to samples. XdEnvelope: a peak follower.

#include "common.h"

namespace xd {
namespace {

absl::Status MuExpandShape(InferenceContext* context) {
  float mu;
  TF_RETURN_IF_ERROR(context->GetAttr("mu", &mu));
  TF_RETURN_IF_ERROR(CheckPositive("mu", mu));
  return tensorflow::shape_inference::UnchangedShape(context);
}

template <typename T>
class MuExpandOp : public OpKernel {
 public:
  explicit MuExpandOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("mu", &mu_));
    OP_REQUIRES_OK(context, CheckPositive("mu", mu_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& code = context->input(0);
    Tensor* signal = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, code.shape(), &signal));
    const KeepSubnormals keep;
    const auto in = code.flat<T>();
    auto out = signal->flat<T>();
    const double mu = mu_;
    const double rate = std::log1p(mu);
    for (int64_t i = 0; i < in.size(); ++i) {
      const double x = static_cast<double>(in(i));
      out(i) = static_cast<T>(
          std::copysign(std::expm1(std::fabs(x) * rate) / mu, x));
    }
  }

 private:
  float mu_;
};

#define XD_MU_EXPAND(NAME)                                       \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("mu: float = 255.0")                                 \
      .Input("code: T")                                          \
      .Output("signal: T")                                       \
      .SetShapeFn(MuExpandShape);                                \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      MuExpandOp<float>);                                        \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      MuExpandOp<double>)

XD_MU_EXPAND("XdMuExpandBad");
XD_MU_EXPAND("XdMuExpandGood");

absl::Status CheckDecay(float decay) {
  if (decay >= 0 && decay <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("decay must be from 0 to 1, but is ", decay));
}

absl::Status EnvelopeShape(InferenceContext* context) {
  float decay;
  TF_RETURN_IF_ERROR(context->GetAttr("decay", &decay));
  TF_RETURN_IF_ERROR(CheckDecay(decay));
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T, int kForm>
class EnvelopeOp : public OpKernel {
 public:
  explicit EnvelopeOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("decay", &decay_));
    OP_REQUIRES_OK(context, CheckDecay(decay_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() >= 1,
                absl::InvalidArgumentError(
                    "signal must have at least one axis, but is a scalar"));
    Tensor* envelope = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, signal.shape(), &envelope));
    if (signal.NumElements() == 0) return;
    const KeepSubnormals keep;
    const auto in = signal.flat_inner_dims<T>();
    auto out = envelope->flat_inner_dims<T>();
    const size_t rows = in.dimension(0);

    const std::lock_guard<std::mutex> lock(mutex_);
    Prepare(rows);
    for (size_t row = 0; row < rows; ++row) {
      T level = level_[row];
      for (int64_t i = 0; i < in.dimension(1); ++i) {
        const T height = std::abs(in(row, i));
        const T faded = static_cast<T>(decay_) * level;
        level = height >= faded || std::isnan(height) ? height : faded;
        out(row, i) = level;
      }
      level_[row] = level;
    }
  }

 private:
  // One level for each row.
  void Prepare(size_t rows) {
    if constexpr (kForm == 1) {
      if (level_.size() == rows) return;
    }
    level_.assign(rows, T(0));
  }

  float decay_;
  std::mutex mutex_;
  std::vector<T> level_;
};

#define XD_ENVELOPE(NAME, FORM)                                  \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("decay: float = 0.99")                               \
      .Input("signal: T")                                        \
      .Output("envelope: T")                                     \
      .SetShapeFn(EnvelopeShape);                                \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      EnvelopeOp<float, FORM>);                                  \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      EnvelopeOp<double, FORM>)

XD_ENVELOPE("XdEnvelopeBad", 1);
XD_ENVELOPE("XdEnvelopeGood", 2);

}  // namespace
}  // namespace xd
