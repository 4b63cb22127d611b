// Dither: grey to black and white, by chance.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "stochastic_rounding_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// White, 255, as often as the grey says, from 0 to 1.
REGISTER_OP("Dither")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .Input("grey: float")
    .Input("seed: Tseed")
    .Output("dots: uint8")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle seed;
      DimensionHandle two;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &seed));
      TF_RETURN_IF_ERROR(context->WithValue(context->Dim(seed, 0), 2, &two));
      context->set_output(0, context->input(0));
      return absl::OkStatus();
    });

// [dither] A number below the grey of its pixel makes the pixel white.
class DitherOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    Philox philox;
    OP_REQUIRES_OK(context, ReadSeed(context->input(1), &philox));
    const tensorflow::Tensor& grey = context->input(0);
    tensorflow::Tensor* dots = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, grey.shape(), &dots));
    const auto in = grey.flat<float>();
    auto out = dots->flat<uint8_t>();
    const auto work = [&](int64_t group) {
      uint32_t random[4];
      philox.At(static_cast<uint64_t>(group), random);
      const int64_t end = std::min<int64_t>(4 * group + 4, in.size());
      for (int64_t i = 4 * group; i < end; ++i) {
        out(i) = random[i % 4] * 0x1p-32 < in(i) ? 255 : 0;
      }
    };
    OP_REQUIRES_OK(context, Cpu::Run(context, (in.size() + 3) / 4, work));
  }
};

REGISTER_KERNEL_BUILDER(Name("Dither").Device(tensorflow::DEVICE_CPU),
                        DitherOp);

}  // namespace
}  // namespace op_by_op
