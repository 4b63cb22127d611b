// What the examples need of cub, for a C++ compiler: see cuda_on_host.h.

#ifndef OP_BY_OP_EXAMPLES_COMMON_CUB_BLOCK_BLOCK_REDUCE_CUH_
#define OP_BY_OP_EXAMPLES_COMMON_CUB_BLOCK_BLOCK_REDUCE_CUH_

#include <limits>

#include "../../cuda_on_host.h"

namespace cub {

template <typename T, int kThreads>
class BlockReduce {
 public:
  struct TempStorage {
    T values[kThreads];
  };

  explicit BlockReduce(TempStorage& storage) : values_(storage.values) {}

  // As on a GPU, what all threads but the first get is of no use, and nobody
  // waits for the first.
  T Sum(T value) {
    const unsigned thread = op_by_op::threadIdx.x;
    values_[thread] = value;
    __syncthreads();
    if (thread != 0) return std::numeric_limits<T>::quiet_NaN();
    T sum = 0;
    for (T each : values_) sum += each;
    return sum;
  }

 private:
  T (&values_)[kThreads];
};

}  // namespace cub

#endif  // OP_BY_OP_EXAMPLES_COMMON_CUB_BLOCK_BLOCK_REDUCE_CUH_
