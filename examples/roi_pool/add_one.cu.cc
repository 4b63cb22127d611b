// A small CUDA kernel and its launcher, for the GPU's chapter.

#include <cstdint>

#include "../common/cuda_launch.h"

namespace op_by_op {

// [add_one] One thread for each number, in blocks of 256.
static __global__ void AddOne(float* numbers, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] += 1;
}

extern "C" __attribute__((visibility("default"))) const char* AddOneLaunch(
    void* stream, float* numbers, int64_t count) {
  if (count == 0) return nullptr;
  return Launch(AddOne, (count + 255) / 256, 256, 0, stream, numbers, count);
}

}  // namespace op_by_op
