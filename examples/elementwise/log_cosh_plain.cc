// LogCoshPlain: the logarithm of the hyperbolic cosine, one number at a time.

#define EIGEN_USE_THREADS

#include <cmath>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/kernels/cwise_ops_common.h"

namespace op_by_op {
namespace {

// One output, shaped like the input.
REGISTER_OP("LogCoshPlain")
    .Attr("T: {float}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Computes log(cosh(x)) for each element, one after the other.");

// [one] Of one number. Both formulas end in log(1 + v).
struct LogCoshOfOne {
  float operator()(float x) const {
    const float size = std::abs(x);
    if (size < 1) {
      const float sinh = std::sinh(size / 2), v = 2 * sinh * sinh;
      return std::log1p(v);
    }
    const float v = std::exp(-2 * size);
    return size - 0.693147181f + std::log1p(v);
  }
};

// [register] UnaryOp is TensorFlow's kernel, and base what it asks of a
// functor.
template <typename T>
struct log_cosh_plain : tensorflow::functor::base<T, LogCoshOfOne> {};

using tensorflow::CPUDevice;
using tensorflow::DEVICE_CPU;
REGISTER(tensorflow::UnaryOp, CPU, "LogCoshPlain", log_cosh_plain, float);

}  // namespace
}  // namespace op_by_op
