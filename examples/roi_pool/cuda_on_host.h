// What roi_pool.cu.cc needs of CUDA, for a C++ compiler: a launch is two loops.
// Threads run one after the other, so a race does not show, and a kernel that
// waits for other threads (__syncthreads, warp shuffles) does not compile.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_CUDA_ON_HOST_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_CUDA_ON_HOST_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "Eigen/Core"

// [host] The words of CUDA that the kernels use.
#define __global__
#define __host__
#define __device__
#define __restrict__ __restrict

using __half = Eigen::half;
using __nv_bfloat16 = Eigen::bfloat16;

inline float __half2float(__half value) { return static_cast<float>(value); }
inline float __bfloat162float(__nv_bfloat16 value) {
  return static_cast<float>(value);
}
inline __half __float2half_rn(float value) { return __half(value); }
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return __nv_bfloat16(value);
}
inline int __ffs(int bits) { return __builtin_ffs(bits); }

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline void __stwb(uint2* to, uint2 value) { *to = value; }
inline void __stwb(uint4* to, uint4 value) { *to = value; }

namespace op_by_op {

struct Index {
  unsigned x;
};
inline Index blockIdx, threadIdx, blockDim, gridDim;

// Filled with NaN: a block finds nothing of the block before, nor zeros.
inline std::vector<double> shared_memory;
inline void* SharedMemory() { return shared_memory.data(); }

// What a GPU refuses is refused here, too.
template <typename... Parameters, typename... Arguments>
const char* Launch(void (*kernel)(Parameters...), int64_t blocks, int threads,
                   int shared_bytes, void*, Arguments... arguments) {
  if (blocks < 1 || blocks > INT32_MAX) return "invalid number of blocks";
  if (threads < 1 || threads > 1024) return "invalid number of threads";
  if (shared_bytes > 48 << 10) return "too much shared memory";
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    shared_memory.assign(shared_bytes / sizeof(double), std::nan(""));
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
      kernel(arguments...);
    }
  }
  return nullptr;
}

inline const char* CopyToHost(void*, const void* on_device, void* on_host,
                              int64_t bytes) {
  std::memcpy(on_host, on_device, bytes);
  return nullptr;
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_CUDA_ON_HOST_H_
