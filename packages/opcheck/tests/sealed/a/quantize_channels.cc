// Quantises to int8_t with a scale and a zero point per channel.
#include <algorithm>
#include <cmath>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaQuantizeChannels")
    .Input("x: float")
    .Input("scale: float")
    .Input("zero_point: int32")
    .Output("quantized: int8")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x, scale, zero_point;
      DimensionHandle channels;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &scale));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &zero_point));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(x, -1), c->Dim(scale, 0), &channels));
      TF_RETURN_IF_ERROR(c->Merge(channels, c->Dim(zero_point, 0), &channels));
      TF_RETURN_IF_ERROR(c->ReplaceDim(x, -1, channels, &x));
      c->set_output(0, x);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Computes round(x / scale) + zero_point for each channel and saturates it to [-128, 127].

Rounds half to even. NaN gives zero_point.

x: [..., channels].
scale: [channels], finite and positive.
zero_point: [channels] in [-128, 127].
)doc");

class QuantizeChannelsOp : public OpKernel {
 public:
  explicit QuantizeChannelsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const Tensor& scale = ctx->input(1);
    const Tensor& zero_point = ctx->input(2);
    OP_REQUIRES(ctx, x.dims() >= 1,
                Invalid("x must be at least one-dimensional"));
    const int64_t channels = x.dim_size(x.dims() - 1);
    OP_REQUIRES(ctx, scale.dims() == 1 && scale.dim_size(0) == channels,
                Invalid("scale must have shape [", channels, "], got ",
                        scale.shape().DebugString()));
    OP_REQUIRES(ctx,
                zero_point.dims() == 1 && zero_point.dim_size(0) == channels,
                Invalid("zero_point must have shape [", channels, "], got ",
                        zero_point.shape().DebugString()));
    auto s = scale.vec<float>();
    auto z = zero_point.vec<int32_t>();
    for (int64_t c = 0; c < channels; ++c) {
      OP_REQUIRES(ctx, std::isfinite(s(c)) && s(c) > 0,
                  Invalid("scale must be finite and positive, got ", s(c)));
      OP_REQUIRES(ctx, z(c) >= -128 && z(c) <= 127,
                  Invalid("zero_point must be in [-128, 127], got ", z(c)));
    }
    Tensor* quantized = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &quantized));
    auto in = x.flat_inner_dims<float>();
    auto out = quantized->flat_inner_dims<int8_t>();
    for (int64_t r = 0; r < in.dimension(0); ++r) {
      for (int64_t c = 0; c < channels; ++c) {
        const float v =
            std::isnan(in(r, c)) ? 0.0f : std::nearbyint(in(r, c) / s(c));
#ifdef TWIN
        const int q = static_cast<int>(std::clamp(v, -256.0f, 256.0f)) + z(c);
#else
        const int q = static_cast<int>(v) + z(c);
#endif
        out(r, c) = static_cast<int8_t>(std::clamp(q, -128, 127));
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UaQuantizeChannels").Device(DEVICE_CPU),
                        QuantizeChannelsOp);

}  // namespace
}  // namespace tensorflow
