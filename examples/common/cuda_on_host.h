// What the examples need of CUDA, for a C++ compiler: a launch is two loops.
// Threads run one after the other, each as far as it can: to its end or to
// __syncthreads(), where the next one goes on. So a race between blocks does
// not show. One within a block does if its outcome depends on whether the
// threads run forwards or backwards. A test can ask for either, and for the
// calls of the run time, and make one of them fail. One source of a library
// includes this, and one thread at a time may call it: what belongs to a launch
// is global.

#ifndef OP_BY_OP_EXAMPLES_COMMON_CUDA_ON_HOST_H_
#define OP_BY_OP_EXAMPLES_COMMON_CUDA_ON_HOST_H_

#ifdef __APPLE__
#define _XOPEN_SOURCE 600  // for ucontext.h
#endif
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "Eigen/Core"

using cudaStream_t = struct CUstream_st*;
using cudaError_t = const char*;
constexpr cudaError_t cudaSuccess = nullptr;
constexpr cudaError_t cudaErrorInvalidConfiguration =
    "invalid configuration argument";
enum cudaMemcpyKind { cudaMemcpyDeviceToHost };

namespace op_by_op {

inline std::ostringstream cuda_calls;
inline std::function<void()> copy = [] {};  // which waits for its stream

}  // namespace op_by_op

// For tests, through ctypes.
extern "C" {
#pragma GCC visibility push(default)
int64_t cuda_fails_at = 0;      // 1: the next call
int64_t cuda_ends_alone = 0;    // not 0: only the first block runs and the last
int64_t cuda_only_thread = -1;  // of each block, the others are not run
int64_t cuda_backwards = 0;     // not 0: the last thread of a block comes first
const char* cuda_last_error = nullptr;  // what cudaGetLastError returns next

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

// The error stays until cudaGetLastError, whatever else is called meanwhile.
template <typename... Values>
cudaError_t Called(const char* name, Values... values) {
  cuda_calls << name;
  ((cuda_calls << ' ' << values), ...);
  cuda_calls << '\n';
  if (cuda_fails_at <= 0 || --cuda_fails_at > 0) return cudaSuccess;
  return cuda_last_error = "unknown error";
}

}  // namespace op_by_op

inline cudaError_t cudaGetLastError() {
  return std::exchange(cuda_last_error, cudaSuccess);
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

// [words] What these say to nvcc, a C++ compiler need not know.
#define __global__
#define __host__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __restrict__ __restrict

// Numbers of 16 bits.
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
using std::min;
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
inline void* SharedMemory() { return shared_memory; }

// The threads of a block. Those that wait for others keep their stacks, and
// the next ones get another.
class Block {
 public:
  void Run(std::function<void()> kernel) {
    kernel_ = std::move(kernel);
    started_ = 0;
    std::vector<Stack*> waiting;
    while (started_ < blockDim.x || !waiting.empty()) {
      std::vector<Stack*> stopped;
      for (Stack* stack : waiting) Continue(stack, &stopped);
      waiting.clear();
      while (started_ < blockDim.x) Continue(New(), &stopped);
      waiting = std::move(stopped);
    }
  }

  void Wait() {
    Stack* const stack = running_;
    const Index thread = threadIdx;
    stack->waits = true;
    swapcontext(&stack->context, &outside_);
    threadIdx = thread;
  }

 private:
  struct Stack {
    ucontext_t context;
    bool waits;
    char memory[1 << 16];
  };

  Stack* New() {
    if (free_.empty()) free_.push_back(std::make_unique<Stack>());
    used_.push_back(std::move(free_.back()));
    free_.pop_back();
    Stack* const stack = used_.back().get();
    getcontext(&stack->context);
    stack->context.uc_stack.ss_sp = stack->memory;
    stack->context.uc_stack.ss_size = sizeof(stack->memory);
    stack->context.uc_link = &outside_;
    makecontext(&stack->context, Threads, 0);
    return stack;
  }

  void Continue(Stack* stack, std::vector<Stack*>* stopped) {
    running_ = stack;
    stack->waits = false;
    swapcontext(&outside_, &stack->context);
    if (stack->waits) {
      stopped->push_back(stack);
      return;
    }
    const auto at =
        std::find_if(used_.begin(), used_.end(),
                     [stack](const auto& used) { return used.get() == stack; });
    free_.push_back(std::move(*at));
    used_.erase(at);
  }

  // One thread after the other, until one waits and later ends.
  static void Threads();

  std::function<void()> kernel_;
  unsigned started_;
  Stack* running_;
  ucontext_t outside_;
  std::vector<std::unique_ptr<Stack>> used_, free_;
};
inline Block block;

inline void Block::Threads() {
  while (block.started_ < blockDim.x) {
    const unsigned thread = block.started_++;
    threadIdx.x = cuda_backwards != 0 ? blockDim.x - 1 - thread : thread;
    if (cuda_only_thread >= 0 && cuda_only_thread != threadIdx.x) continue;
    block.kernel_();
  }
}

// Put in the place of kernel<<<blocks, threads, shared_bytes, stream>>>, which
// no other compiler reads. What a GPU refuses is refused here, too.
template <typename... Parameters>
auto OnHost(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
            size_t shared_bytes, cudaStream_t stream) {
  return [=](Parameters... arguments) {
    const cudaError_t error =
        Called("launch", blocks, threads, shared_bytes, stream);
    if (error != cudaSuccess) return;
    if (blocks < 1 || blocks > INT32_MAX || threads < 1 || threads > 1024 ||
        shared_bytes > sizeof(shared_memory)) {
      cuda_last_error = cudaErrorInvalidConfiguration;
      return;
    }
    // NaN: a block finds nothing of the block before, nor zeros.
    double* const end = shared_memory + shared_bytes / sizeof(double);
    std::fill(end, std::end(shared_memory), NAN);
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
      const bool is_end = blockIdx.x == 0 || blockIdx.x == blocks - 1;
      if (cuda_ends_alone != 0 && !is_end) continue;
      std::fill(shared_memory, end, NAN);
      block.Run([&] { kernel(arguments...); });
    }
    if (!std::all_of(end, std::end(shared_memory),
                     [](double value) { return std::isnan(value); })) {
      cuda_last_error = "an illegal memory access was encountered";
    }
  };
}

}  // namespace op_by_op

inline void __syncthreads() { op_by_op::block.Wait(); }

#endif  // OP_BY_OP_EXAMPLES_COMMON_CUDA_ON_HOST_H_
