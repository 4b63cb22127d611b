// What the examples need of CUDA, for a C++ compiler: a launch is two loops.
// Threads run one after the other, so a race does not show, and a kernel that
// waits for other threads (__syncthreads, warp shuffles) does not compile.
// A test can ask for the calls of the run time, and make one of them fail. One
// source of a library includes this.

#ifndef OP_BY_OP_EXAMPLES_COMMON_CUDA_ON_HOST_H_
#define OP_BY_OP_EXAMPLES_COMMON_CUDA_ON_HOST_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "Eigen/Core"

using cudaStream_t = struct CUstream_st*;
using cudaError_t = const char*;
constexpr cudaError_t cudaSuccess = nullptr;
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };

namespace op_by_op {

inline std::ostringstream cuda_calls;
inline cudaError_t last_error = cudaSuccess;
inline std::function<void()> copy = [] {};  // which waits for its stream

}  // namespace op_by_op

// For tests, through ctypes.
extern "C" {
#pragma GCC visibility push(default)
int64_t cuda_fails_at = 0;      // 1: the next call
int64_t cuda_ends_alone = 0;    // not 0: only the first block runs and the last
int64_t cuda_only_thread = -1;  // of each block, the others are not run

// One line for each call since the last time: its name and numbers.
const char* CudaCalls() {
  static std::string calls;
  calls = op_by_op::cuda_calls.str();
  op_by_op::cuda_calls.str("");
  return calls.c_str();
}
#pragma GCC visibility pop
}

namespace op_by_op {

template <typename... Values>
cudaError_t Called(const char* name, Values... values) {
  cuda_calls << name;
  ((cuda_calls << ' ' << values), ...);
  cuda_calls << '\n';
  return cuda_fails_at > 0 && --cuda_fails_at == 0 ? "unknown error"
                                                   : cudaSuccess;
}

}  // namespace op_by_op

inline cudaError_t cudaGetLastError() {
  return std::exchange(op_by_op::last_error, cudaSuccess);
}
inline const char* cudaGetErrorString(cudaError_t error) { return error; }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                   cudaMemcpyKind, cudaStream_t stream) {
  op_by_op::copy = [=] { std::memcpy(to, from, bytes); };
  return op_by_op::Called("cudaMemcpyAsync", bytes, stream);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::exchange(op_by_op::copy, [] {})();
  return op_by_op::Called("cudaStreamSynchronize", stream);
}

// The words of CUDA that the kernels use.
#define __global__
#define __host__
#define __device__
#define __shared__
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
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
inline void __stwb(uint2* to, uint2 value) { *to = value; }
inline void __stwb(uint4* to, uint4 value) { *to = value; }

namespace op_by_op {

struct Index {
  unsigned x;
};
inline Index blockIdx, threadIdx, blockDim, gridDim;
inline double shared_memory[(48 << 10) / sizeof(double)];

// Put in the place of kernel<<<blocks, threads, shared_bytes, stream>>>, which
// no other compiler reads. What a GPU refuses is refused here, too.
template <typename... Parameters>
auto OnHost(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
            size_t shared_bytes, cudaStream_t stream) {
  return [=](Parameters... arguments) {
    last_error = Called("launch", blocks, threads, shared_bytes, stream);
    if (blocks < 1 || blocks > INT32_MAX || threads < 1 || threads > 1024 ||
        shared_bytes > sizeof(shared_memory)) {
      last_error = "invalid configuration argument";
    }
    if (last_error != cudaSuccess) return;
    // NaN: a block finds nothing of the block before, nor zeros.
    double* const end = shared_memory + shared_bytes / sizeof(double);
    std::fill(end, std::end(shared_memory), NAN);
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
      const bool is_end = blockIdx.x == 0 || blockIdx.x == blocks - 1;
      if (cuda_ends_alone != 0 && !is_end) continue;
      std::fill(shared_memory, end, NAN);
      for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {
        if (cuda_only_thread >= 0 && cuda_only_thread != threadIdx.x) continue;
        kernel(arguments...);
      }
    }
    if (!std::all_of(end, std::end(shared_memory),
                     [](double value) { return std::isnan(value); })) {
      last_error = "an illegal memory access was encountered";
    }
  };
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_COMMON_CUDA_ON_HOST_H_
