// Between the kernels of the CPU and TensorFlow.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SHARD_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SHARD_H_

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "roi_pool_cpu.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {

// [shard] TensorFlow's types and threads, as the kernels know them.
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

// The C library maps new memory for what is larger than 32 MiB, each time. In
// large pages, the system hands it out many times faster. It may decline.
inline void AdviseLargePages(
    [[maybe_unused]] const tensorflow::Tensor& tensor) {
#if defined(__linux__)
  if (tensor.TotalBytes() < size_t{1} << 25) return;
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data());
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t last = (begin + tensor.TotalBytes()) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

constexpr int64_t kCyclesOfOneThread = 50'000;

// On as many threads as pay: none but this one where there is little to do.
inline Shard ShardOn(tensorflow::OpKernelContext* context) {
  return [context](int64_t total, int64_t cost, const Work& work) {
    const Work exact = [&work](int64_t begin, int64_t end) {
      // TensorFlow's threads take the smallest numbers for zero.
      const tsl::port::ScopedDontFlushDenormal keep;
      work(begin, end);
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
