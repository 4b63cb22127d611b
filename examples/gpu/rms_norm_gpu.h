// All that TensorFlow's side, compiled by g++, knows of CUDA's, compiled by
// nvcc.

#ifndef OP_BY_OP_EXAMPLES_GPU_RMS_NORM_GPU_H_
#define OP_BY_OP_EXAMPLES_GPU_RMS_NORM_GPU_H_

#include <cstdint>

namespace op_by_op {

// Pointers to device memory, of matrices with rows * columns
// numbers. They return null, or the text of an error.
extern "C" {
const char* RmsNormLaunch(void* stream, const float* x, int64_t rows,
                          int64_t columns, float epsilon, float* y);
const char* RmsNormGradLaunch(void* stream, const float* x, const float* grad,
                              int64_t rows, int64_t columns, float epsilon,
                              float* result);
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_GPU_RMS_NORM_GPU_H_
