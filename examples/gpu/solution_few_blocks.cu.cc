// The solution of the exercise of the GPU's chapter.

#include <algorithm>
#include <cstdint>

#include "../common/cuda_launch.h"
#include "rms_norm.h"

namespace op_by_op {
namespace {

constexpr int kThreads = 256;  // of a block, a power of 2

// Adds up one number from each thread of the block, for all of them.
__device__ float BlockSum(float value) {
  __shared__ float sums[kThreads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

// [solution] Each block has every 132nd row.
__global__ void RmsNormKernel(const float* x, int64_t rows, int64_t columns,
                              float epsilon, float* y) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float squares = 0;
    for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
      squares += x[row * columns + c] * x[row * columns + c];
    }
    const float scale = Scale(BlockSum(squares), columns, epsilon);
    for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
      y[row * columns + c] = x[row * columns + c] * scale;
    }
    __syncthreads();  // before the next row writes into sums
  }
}

}  // namespace

// 132 blocks, however many rows there are.
extern "C" const char* RmsNormLaunch(void* stream, const float* x, int64_t rows,
                                     int64_t columns, float epsilon, float* y) {
  if (rows * columns == 0) return nullptr;  // nothing to write
  return Launch(RmsNormKernel, std::min<int64_t>(rows, 132), kThreads, 0,
                stream, x, rows, columns, epsilon, y);
}

}  // namespace op_by_op
