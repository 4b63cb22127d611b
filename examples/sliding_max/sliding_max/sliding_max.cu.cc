// SlidingMax on the GPU: plain CUDA and nothing of TensorFlow, so that nvcc
// takes seconds.

#include "sliding_max.h"

#include <algorithm>
#include <cstdint>

namespace sliding_max {
namespace {

// A thread for each window, or for several where the grid is too small.
template <typename T>
__global__ void MaxOfWindows(const T* x, Sizes sizes, T* y, int64_t* position) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t k = first; k < sizes.rows * sizes.windows; k += step) {
    const T* row = x + k / sizes.windows * sizes.n;
    const int64_t i = k % sizes.windows;
    const int64_t best = FirstMax(row, i, i + sizes.window);
    y[k] = row[best];
    position[k] = best;
  }
}

// A thread for each element of x. It asks the windows that the element is in.
template <typename T>
__global__ void GradOfElements(const T* grad, const int64_t* position,
                               Sizes sizes, T* grad_of_x) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t k = first; k < sizes.rows * sizes.n; k += step) {
    const int64_t row = k / sizes.n * sizes.windows;
    const int64_t j = k % sizes.n;
    const int64_t begin = j < sizes.window ? 0 : j - sizes.window + 1;
    const int64_t end = j < sizes.windows ? j + 1 : sizes.windows;
    T sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      if (position[row + i] == j) sum += grad[row + i];
    }
    grad_of_x[k] = sum;
  }
}

constexpr int64_t kThreads = 256, kMostBlocks = 65536;

int64_t Blocks(int64_t size) {
  return std::min((size + kThreads - 1) / kThreads, kMostBlocks);
}

const char* LastError() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace

template <typename T>
const char* Launch(void* stream, const T* x, Sizes sizes, T* y,
                   int64_t* position) {
  const int64_t blocks = Blocks(sizes.rows * sizes.windows);
  cudaGetLastError();  // forgets the error of an earlier call
  MaxOfWindows<T><<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      x, sizes, y, position);
  return LastError();
}

template <typename T>
const char* LaunchGrad(void* stream, const T* grad, const int64_t* position,
                       Sizes sizes, T* grad_of_x) {
  const int64_t blocks = Blocks(sizes.rows * sizes.n);
  cudaGetLastError();  // likewise
  GradOfElements<T><<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      grad, position, sizes, grad_of_x);
  return LastError();
}

template const char* Launch(void*, const float*, Sizes, float*, int64_t*);
template const char* Launch(void*, const double*, Sizes, double*, int64_t*);
template const char* LaunchGrad(void*, const float*, const int64_t*, Sizes,
                                float*);
template const char* LaunchGrad(void*, const double*, const int64_t*, Sizes,
                                double*);

}  // namespace sliding_max
