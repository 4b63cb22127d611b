// Wrong on purpose: an op that hides its state, and one whose result depends on
// how the work is shared.

#include "absl/status/status.h"
#include "stochastic_rounding_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("ForgetfulStochasticRound")
    .Attr("T: {float}")
    .Attr("dtype: {bfloat16}")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Input("x: T")
    .Output("rounded: dtype")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(
    Name("ForgetfulStochasticRound").Device(tensorflow::DEVICE_CPU),
    StochasticRoundOp<Cpu, float, tensorflow::bfloat16>);

REGISTER_OP("BlockwiseStochasticRound")
    .Attr("T: {float}")
    .Attr("dtype: {bfloat16}")
    .Attr("Tseed: {int32, int64}")
    .Input("x: T")
    .Input("seed: Tseed")
    .Output("rounded: dtype")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

struct Blockwise {
  template <typename Work>
  static absl::Status Run(tensorflow::OpKernelContext* context, int64_t groups,
                          const Work& work) {
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    // [blocks] Each has a generator, whose key says where the block begins.
    tensorflow::Shard(workers.num_threads, workers.workers, groups,
                      Cpu::kGroupCycles, [&](int64_t begin, int64_t end) {
                        Work own = work;
                        own.philox.key += static_cast<uint64_t>(begin);
                        for (int64_t i = begin; i < end; ++i) own(i);
                      });
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(
    Name("BlockwiseStochasticRound").Device(tensorflow::DEVICE_CPU),
    StatelessStochasticRoundOp<Blockwise, float, tensorflow::bfloat16>);

}  // namespace
}  // namespace op_by_op
