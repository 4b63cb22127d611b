// The exercise: Hypotenuse, without overflow, on TensorFlow's BinaryOp.

#define EIGEN_USE_THREADS

#include <cmath>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/kernels/cwise_ops_common.h"

namespace op_by_op {
namespace {

// [functor] The standard library has one that does not overflow.
template <typename T>
struct Hypotenuse {
  T operator()(const T& x, const T& y) const { return std::hypot(x, y); }
};

// Floats only.
REGISTER_OP("Hypotenuse")
    .Attr("T: {float}")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .SetShapeFn(tensorflow::shape_inference::BroadcastBinaryOpShapeFn)
    .Doc("Computes sqrt(x * x + y * y), without overflow.");

// [register] The kernel is AbsDifference's.
template <typename T>
struct hypotenuse : tensorflow::functor::base<T, Hypotenuse<T>> {};

using tensorflow::CPUDevice;
using tensorflow::DEVICE_CPU;
REGISTER(tensorflow::BinaryOp, CPU, "Hypotenuse", hypotenuse, float);

}  // namespace
}  // namespace op_by_op
