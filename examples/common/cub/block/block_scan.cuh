// What the examples need of cub, for a C++ compiler: see cuda_on_host.h.

#ifndef OP_BY_OP_EXAMPLES_COMMON_CUB_BLOCK_BLOCK_SCAN_CUH_
#define OP_BY_OP_EXAMPLES_COMMON_CUB_BLOCK_BLOCK_SCAN_CUH_

#include "../../cuda_on_host.h"

namespace cub {

template <typename T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
  };

  explicit BlockScan(TempStorage& storage) : values_(storage.values) {}

  // For each thread, the sum of the threads before it, and that of all.
  void ExclusiveSum(T value, T& before, T& all) {
    const unsigned thread = op_by_op::threadIdx.x;
    values_[thread] = value;
    __syncthreads();
    before = all = 0;
    for (unsigned i = 0; i < kThreads; ++i) {
      if (i == thread) before = all;
      all += values_[i];
    }
  }

 private:
  T (&values_)[kThreads];
};

}  // namespace cub

#endif  // OP_BY_OP_EXAMPLES_COMMON_CUB_BLOCK_BLOCK_SCAN_CUH_
