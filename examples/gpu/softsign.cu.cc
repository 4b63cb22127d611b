// Softsign on the GPU: the CUDA code, for nvcc.

#include <cmath>
#include <cstdint>

namespace op_by_op {

// A thread for each element.
__global__ void SoftsignKernel(const float* x, int64_t size, float* y) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) y[i] = x[i] / (1 + std::abs(x[i]));
}

// Returns null, or the text of an error, before the work is done.
extern "C" const char* SoftsignLaunch(void* stream, const float* x,
                                      int64_t size, float* y) {
  if (size == 0) return nullptr;  // a grid has at least one block

  constexpr int kThreads = 256;
  const int64_t blocks = (size + kThreads - 1) / kThreads;
  cudaGetLastError();  // forgets the error of an earlier launch
  SoftsignKernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      x, size, y);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace op_by_op
