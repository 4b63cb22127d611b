// A first version of rms_norm.cu.cc: each thread has a row for itself.

#include "../common/cuda_launch.h"
#include "rms_norm.h"
#include "rms_norm_gpu.h"

namespace op_by_op {
namespace {

constexpr int kThreads = 256;  // of a block

int64_t Blocks(int64_t rows) { return (rows + kThreads - 1) / kThreads; }

__global__ void RmsNormGradEach(const float* x, const float* grad, int64_t rows,
                                int64_t columns, float epsilon, float* result) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int64_t first = row * columns;
  NormRowGrad(x + first, grad + first, columns, epsilon, result + first);
}

// [each] A thread for each row.
__global__ void RmsNormEach(const float* x, int64_t rows, int64_t columns,
                            float epsilon, float* y) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  NormRow(x + row * columns, columns, epsilon, y + row * columns);
}

}  // namespace

extern "C" const char* RmsNormGradLaunch(void* stream, const float* x,
                                         const float* grad, int64_t rows,
                                         int64_t columns, float epsilon,
                                         float* result) {
  if (rows * columns == 0) return nullptr;  // nothing to write
  return Launch(RmsNormGradEach, Blocks(rows), kThreads, 0, stream, x, grad,
                rows, columns, epsilon, result);
}

// As many blocks of 256 threads as the rows need.
extern "C" const char* RmsNormLaunch(void* stream, const float* x, int64_t rows,
                                     int64_t columns, float epsilon, float* y) {
  if (rows * columns == 0) return nullptr;  // nothing to write
  return Launch(RmsNormEach, Blocks(rows), kThreads, 0, stream, x, rows,
                columns, epsilon, y);
}

}  // namespace op_by_op
