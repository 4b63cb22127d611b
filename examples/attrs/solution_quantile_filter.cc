// QuantileFilter: the solution of the chapter's exercise.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [slide] As in MovingMedian, with another place in the sorted window.
void Slide(tensorflow::TTypes<float>::ConstVec in, int64_t window, int64_t rank,
           float* values, tensorflow::TTypes<float>::Vec out) {
  for (int64_t i = 0; i < out.size(); ++i) {
    bool has_nan = false;
    for (int64_t k = 0; k < window; ++k) {
      const int64_t place = i + k - window / 2;
      values[k] = in(std::clamp<int64_t>(place, 0, in.size() - 1));
      has_nan |= std::isnan(values[k]);
    }
    if (!has_nan) std::nth_element(values, values + rank, values + window);
    out(i) = has_nan ? std::numeric_limits<float>::quiet_NaN() : values[rank];
  }
}

// [interface] The window may be even. A float has no minimum in an interface. A
// NaN fails both comparisons, so it is rejected, too.
absl::Status CheckQuantile(float quantile) {
  if (quantile >= 0 && quantile <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "quantile must be at least 0 and at most 1, but is ", quantile));
}

absl::Status CheckFits(int64_t window, int64_t length) {
  if (window <= length) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("window must be at most the length of signal, ", length,
                   ", but is ", window));
}

REGISTER_OP("QuantileFilter")
    .Attr("window: int >= 1 = 3")
    .Attr("quantile: float = 0.5")
    .Input("signal: float")
    .Output("filtered: float")
    .SetShapeFn([](InferenceContext* context) {
      int64_t window;
      float quantile;
      TF_RETURN_IF_ERROR(context->GetAttr("window", &window));
      TF_RETURN_IF_ERROR(context->GetAttr("quantile", &quantile));
      TF_RETURN_IF_ERROR(CheckQuantile(quantile));
      ShapeHandle signal;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 1, &signal));
      context->set_output(0, signal);
      const int64_t length = context->Value(context->Dim(signal, 0));
      return length < 0 ? absl::OkStatus() : CheckFits(window, length);
    });

// [rank] The closest place, and the later one of two. The minimum matters for
// windows beyond 2^24, whose size a float may round up.
constexpr int64_t Rank(int64_t window, float quantile) {
  const float place = quantile * static_cast<float>(window - 1);
  return std::min(static_cast<int64_t>(place + 0.5), window - 1);
}
// Without the minimum, this would be 16777220.
static_assert(Rank(16777220, 1) == 16777219);

// [kernel] The attrs in the constructor, the window in Compute.
class QuantileFilterOp : public tensorflow::OpKernel {
 public:
  explicit QuantileFilterOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
    OP_REQUIRES_OK(context, context->GetAttr("quantile", &quantile_));
    OP_REQUIRES_OK(context, CheckQuantile(quantile_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("signal must be a vector, but has shape ",
                                 signal.shape().DebugString())));
    OP_REQUIRES_OK(context, CheckFits(window_, signal.dim_size(0)));
    tensorflow::Tensor* filtered = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, signal.shape(), &filtered));
    tensorflow::Tensor scratch;
    OP_REQUIRES_OK(context,
                   context->allocate_temp(signal.dtype(), {window_}, &scratch));
    const tsl::port::ScopedDontFlushDenormal keep;  // subnormals are not 0
    Slide(signal.vec<float>(), window_, Rank(window_, quantile_),
          scratch.flat<float>().data(), filtered->vec<float>());
  }

 private:
  int64_t window_;
  float quantile_;
};

REGISTER_KERNEL_BUILDER(Name("QuantileFilter").Device(tensorflow::DEVICE_CPU),
                        QuantileFilterOp);

}  // namespace
}  // namespace op_by_op
