// The solution of the exercise: where the largest number is, on all cores.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "sum_of.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

REGISTER_OP("FirstHighest")
    .Input("x: float")
    .Output("index: int64")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

// The same answer on any number of threads.
class FirstHighestOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto x = context->input(0).flat<float>();
    OP_REQUIRES(context, x.size() > 0,
                absl::InvalidArgumentError("x must have elements, got none"));
    tensorflow::Tensor *output = nullptr, parts;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    const Blocks blocks(x.size());
    OP_REQUIRES_OK(context, context->allocate_temp(output->dtype(),
                                                   {blocks.count}, &parts));
    // [highest] The best of each block, and at the end the best of these in
    // order.
    const auto best = parts.vec<int64_t>();
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(pool.num_threads, pool.workers, blocks.count,
                      Blocks::kCycles, [&](int64_t begin, int64_t end) {
                        const tsl::port::ScopedDontFlushDenormal keep;
                        for (int64_t b = begin; b < end; ++b) {
                          const float* first = x.data() + blocks.begin(b);
                          best(b) =
                              std::max_element(first, first + blocks.size(b)) -
                              x.data();
                        }
                      });
    const tsl::port::ScopedDontFlushDenormal keep;
    int64_t index = best(0);
    for (int64_t b = 1; b < blocks.count; ++b) {
      if (x(best(b)) > x(index)) index = best(b);
    }
    output->scalar<int64_t>()() = index;
  }
};

REGISTER_KERNEL_BUILDER(Name("FirstHighest").Device(tensorflow::DEVICE_CPU),
                        FirstHighestOp);

}  // namespace
}  // namespace op_by_op
