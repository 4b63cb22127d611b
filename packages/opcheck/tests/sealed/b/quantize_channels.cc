#include <algorithm>
#include <cmath>
#include <limits>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbQuantizeChannels")
    .Input("input: float")
    .Input("scales: float")
    .Input("zero_points: int32")
    .Output("output: int8")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle input, channels, output;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &input));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &channels));
      TF_RETURN_IF_ERROR(c->Merge(channels, c->input(2), &channels));
      if (!c->RankKnown(input)) {
        c->set_output(0, input);
        return absl::OkStatus();
      }
      DimensionHandle last;
      TF_RETURN_IF_ERROR(
          c->Merge(c->Dim(input, -1), c->Dim(channels, 0), &last));
      TF_RETURN_IF_ERROR(c->ReplaceDim(input, -1, last, &output));
      c->set_output(0, output);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Affine quantization to int8 with a scale and zero point for each channel.

output = saturate(round(input / scale) + zero_point), halves rounded to even. NaN gives the zero point.

input: [..., channels].
scales: [channels], finite, positive and not denormal.
zero_points: [channels], in [-128, 127].
output: The shape of input.
)doc");

class UbQuantizeChannelsOp : public OpKernel {
 public:
  explicit UbQuantizeChannelsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input_t = ctx->input(0);
    const Tensor& scales_t = ctx->input(1);
    const Tensor& zeros_t = ctx->input(2);
    OP_REQUIRES(ctx, input_t.dims() >= 1,
                Invalid("input must have rank at least 1, got a scalar"));
    const int64_t channels = input_t.dim_size(input_t.dims() - 1);
    OP_REQUIRES(ctx, scales_t.shape() == TensorShape({channels}),
                Invalid("scales must have shape [", channels, "], got ",
                        scales_t.shape().DebugString()));
    OP_REQUIRES(ctx, zeros_t.shape() == TensorShape({channels}),
                Invalid("zero_points must have shape [", channels, "], got ",
                        zeros_t.shape().DebugString()));
    const auto scales = scales_t.vec<float>();
    const auto zeros = zeros_t.vec<int32_t>();
    for (int64_t c = 0; c < channels; ++c) {
      OP_REQUIRES(ctx,
                  std::isfinite(scales(c)) &&
                      scales(c) >= std::numeric_limits<float>::min(),
                  Invalid("scales must be finite, positive and normal, got ",
                          scales(c)));
      OP_REQUIRES(
          ctx, zeros(c) >= -128 && zeros(c) <= 127,
          Invalid("zero_points must be in [-128, 127], got ", zeros(c)));
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input_t.shape(), &out_t));
    if (input_t.NumElements() == 0) return;
    const auto input = input_t.flat_inner_dims<float>();
    auto out = out_t->flat_inner_dims<int8_t>();
    for (int64_t r = 0; r < input.dimension(0); ++r) {
      for (int64_t c = 0; c < channels; ++c) {
        float level = std::nearbyint(input(r, c) / scales(c));
        if (std::isnan(level)) level = 0.0f;
#ifdef TWIN
        out(r, c) =
            static_cast<int8_t>(std::clamp(level + zeros(c), -128.0f, 127.0f));
#else
        out(r, c) = static_cast<int8_t>(
            static_cast<int32_t>(std::clamp(level, -128.0f, 127.0f)) +
            zeros(c));
#endif
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UbQuantizeChannels").Device(DEVICE_CPU),
                        UbQuantizeChannelsOp);

}  // namespace tensorflow
