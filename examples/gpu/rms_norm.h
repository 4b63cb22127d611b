// The mathematics of RmsNorm, for the CPU and for the GPU.

#ifndef OP_BY_OP_EXAMPLES_GPU_RMS_NORM_H_
#define OP_BY_OP_EXAMPLES_GPU_RMS_NORM_H_

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define OP_BY_OP_HOST_DEVICE __host__ __device__
#else
#define OP_BY_OP_HOST_DEVICE
#endif

namespace op_by_op {

// [scale] One divided by the root of the mean square.
OP_BY_OP_HOST_DEVICE inline float Scale(float squares, int64_t columns,
                                        float epsilon) {
  return 1 / std::sqrt(squares / static_cast<float>(columns) + epsilon);
}

// The gradient is scale * (grad - slope * x).
OP_BY_OP_HOST_DEVICE inline float Slope(float scale, float products,
                                        int64_t columns) {
  return scale * scale * products / static_cast<float>(columns);
}

// [row] One row of the output. A long row needs a sum in double.
OP_BY_OP_HOST_DEVICE inline void NormRow(const float* x, int64_t columns,
                                         float epsilon, float* y) {
  double squares = 0;
  for (int64_t c = 0; c < columns; ++c) squares += x[c] * x[c];
  const float scale = Scale(squares, columns, epsilon);
  for (int64_t c = 0; c < columns; ++c) y[c] = x[c] * scale;
}

// One row of the gradient.
OP_BY_OP_HOST_DEVICE inline void NormRowGrad(const float* x, const float* grad,
                                             int64_t columns, float epsilon,
                                             float* result) {
  double squares = 0, products = 0;
  for (int64_t c = 0; c < columns; ++c) {
    squares += x[c] * x[c];
    products += grad[c] * x[c];
  }
  const float scale = Scale(squares, columns, epsilon);
  const float slope = Slope(scale, products, columns);
  for (int64_t c = 0; c < columns; ++c) {
    result[c] = scale * (grad[c] - slope * x[c]);
  }
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_GPU_RMS_NORM_H_
