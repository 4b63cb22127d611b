// RmsNorm on the GPU: CUDA without TensorFlow, so nvcc takes seconds.

#include "rms_norm.h"

#include <cub/block/block_reduce.cuh>

#include "../common/cuda_launch.h"
#include "rms_norm_gpu.h"

namespace op_by_op {
namespace {

constexpr int kThreads = 256;  // of a block, a power of 2

// [sum] Adds up one number from each thread of the block, for all of them.
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

// [kernel] A block for each row.
__global__ void RmsNormKernel(const float* x, int64_t columns, float epsilon,
                              float* y) {
  const int64_t first = blockIdx.x * columns;
  float squares = 0;
  for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
    squares += x[first + c] * x[first + c];
  }
  const float scale = Scale(BlockSum(squares), columns, epsilon);
  for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
    y[first + c] = x[first + c] * scale;
  }
}

// [gradient] With sums by cub, which only the first thread gets.
__global__ void RmsNormGradKernel(const float* x, const float* grad,
                                  int64_t columns, float epsilon,
                                  float* result) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ Reduce::TempStorage storage;
  __shared__ float scale, slope;
  const int64_t first = blockIdx.x * columns;
  float squares = 0, products = 0;
  for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
    squares += x[first + c] * x[first + c];
    products += grad[first + c] * x[first + c];
  }
  squares = Reduce(storage).Sum(squares);
  __syncthreads();  // before the storage is used again
  products = Reduce(storage).Sum(products);
  if (threadIdx.x == 0) {
    scale = Scale(squares, columns, epsilon);
    slope = Slope(scale, products, columns);
  }
  __syncthreads();
  for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
    result[first + c] = scale * (grad[first + c] - slope * x[first + c]);
  }
}

}  // namespace

extern "C" const char* RmsNormGradLaunch(void* stream, const float* x,
                                         const float* grad, int64_t rows,
                                         int64_t columns, float epsilon,
                                         float* result) {
  if (rows * columns == 0) return nullptr;  // nothing to write
  return Launch(RmsNormGradKernel, rows, kThreads, 0, stream, x, grad, columns,
                epsilon, result);
}

extern "C" const char* RmsNormLaunch(void* stream, const float* x, int64_t rows,
                                     int64_t columns, float epsilon, float* y) {
  if (rows * columns == 0) return nullptr;  // nothing to write
  return Launch(RmsNormKernel, rows, kThreads, 0, stream, x, columns, epsilon,
                y);
}

}  // namespace op_by_op
