// The least CUDA that an element-wise op needs.

#include <cmath>
#include <cstdint>

#include "../common/cuda_launch.h"

namespace op_by_op {
namespace {

constexpr int kThreads = 256;  // of a block

// [each] A thread for each element.
__global__ void SoftsignEach(const float* x, int64_t size, float* y) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) y[i] = x[i] / (1 + std::abs(x[i]));
}

}  // namespace

// [launch] What TensorFlow's side calls.
extern "C" __attribute__((visibility("default"))) const char* SoftsignLaunch(
    void* stream, const float* x, int64_t size, float* y) {
  if (size == 0) return nullptr;  // nothing to write
  return Launch(SoftsignEach, (size + kThreads - 1) / kThreads, kThreads, 0,
                stream, x, size, y);
}

}  // namespace op_by_op
