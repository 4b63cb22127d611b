// The exercise: SoftSign, x / (1 + |x|), on TensorFlow's UnaryOp.

#define EIGEN_USE_THREADS

#include <cmath>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/kernels/cwise_ops_common.h"

namespace op_by_op {
namespace {

REGISTER_OP("SoftSign")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Computes x / (1 + |x|) for each element.");

// [functor] For any type that has an absolute value.
template <typename T>
struct SoftSignOfOne {
  T operator()(T x) const { return x / (1 + std::abs(x)); }
};

// [register] Two types.
template <typename T>
struct soft_sign : tensorflow::functor::base<T, SoftSignOfOne<T>> {};

using tensorflow::CPUDevice;
using tensorflow::DEVICE_CPU;
REGISTER2(tensorflow::UnaryOp, CPU, "SoftSign", soft_sign, float, double);

}  // namespace
}  // namespace op_by_op
