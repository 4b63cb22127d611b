// The loop of the GPU: plain CUDA, and nothing of TensorFlow.

#include "stochastic_rounding.h"

#include <algorithm>
#include <cstdint>

#include "../common/cuda_launch.h"
#include "stochastic_rounding_gpu.h"

namespace op_by_op {
namespace {

// Each thread has groups of its own.
template <typename Work>
__global__ void RoundKernel(Work work, int64_t groups) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < groups;
       i += step) {
    work(i);
  }
}

// `groups` is at least 1.
template <typename From, typename To>
const char* Run(void* stream, int64_t groups, const void* task) {
  constexpr int64_t kThreads = 256, kMostBlocks = 1 << 20;
  const int64_t blocks =
      std::min((groups + kThreads - 1) / kThreads, kMostBlocks);
  void (*const kernel)(RoundFour<From, To>, int64_t) = RoundKernel;
  return Launch(kernel, blocks, kThreads, 0, stream,
                *static_cast<const RoundFour<From, To>*>(task), groups);
}

}  // namespace

extern "C" const char* StochasticRoundLaunch(void* stream, bool from_double,
                                             bool to_half, int64_t groups,
                                             const void* task) {
  constexpr decltype(&Run<Float32, Half>) kRuns[] = {
      Run<Float32, Bfloat16>, Run<Float32, Half>, Run<Float64, Bfloat16>,
      Run<Float64, Half>};
  return kRuns[2 * from_double + to_half](stream, groups, task);
}

}  // namespace op_by_op
