// Between the kernels of the CPU and TensorFlow.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SHARD_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SHARD_H_

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "roi_pool_cpu.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {

// TensorFlow's types and threads, as the kernels know them.
template <typename T>
struct Bits {  // what the kernels call T
  using type = T;
};
template <>
struct Bits<Eigen::half> {
  using type = Half;
};
template <>
struct Bits<tensorflow::bfloat16> {
  using type = Bfloat16;
};

constexpr int64_t kCyclesOfOneThread = 50'000;

// On as many threads as pay off: where there is little to do, on this one
// alone. `*status` is the error of a thread that got no memory.
inline Shard ShardOn(tensorflow::OpKernelContext* context,
                     absl::Status* status) {
  return [context, status](int64_t total, int64_t cost, int64_t bytes,
                           const Work& work) {
    std::mutex mutex;
    const auto exact = [&](int64_t begin, int64_t end) {
      // [memory] For one block of work.
      tensorflow::Tensor scratch;
      const absl::Status allocated = context->allocate_temp(
          tensorflow::DT_UINT8, tensorflow::TensorShape({bytes}), &scratch);
      if (!allocated.ok()) {
        const std::lock_guard<std::mutex> lock(mutex);
        status->Update(allocated);
        return;
      }
      // TensorFlow's threads take the smallest numbers for zero.
      const tsl::port::ScopedDontFlushDenormal keep;
      work(begin, end, scratch.flat<uint8_t>().data());
    };
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    if (total * cost < kCyclesOfOneThread) {
      exact(0, total);
    } else {
      tensorflow::Shard(workers.num_threads, workers.workers, total, cost,
                        exact);
    }
  };
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SHARD_H_
