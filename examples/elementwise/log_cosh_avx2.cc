// LogCosh of floats for processors with AVX2 and FMA, for which CMakeLists.txt
// compiles this file.

// [rename] Names of its own, or the linker would keep one version of each
// function for all processors.
#define Eigen Eigen_avx2
#define op_by_op op_by_op_avx2
#include "log_cosh.h"

void op_by_op::LogCoshOfFloats(const float* x, float* y, int64_t size) {
  ForPackets<LogCosh<float>>(x, y, size);
}
