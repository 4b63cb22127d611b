// The exercise: Hypotenuse, without overflow, on TensorFlow's BinaryOp.

#define EIGEN_USE_THREADS

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/kernels/cwise_ops_common.h"

namespace op_by_op {

// [functor] The larger one is taken out of the root.
template <typename T>
struct Hypotenuse {
  T operator()(const T& x, const T& y) const { return packetOp(x, y); }

  template <typename Packet>
  Packet packetOp(const Packet& x, const Packet& y) const {
    using namespace Eigen::internal;
    const Packet large = pmax<Eigen::PropagateNaN>(pabs(x), pabs(y));
    const Packet small = pmin<Eigen::PropagateNaN>(pabs(x), pabs(y));
    // Of equal numbers, also 0 or infinity, the quotient is not always 1.
    const Packet one = pset1<Packet>(T(1));
    const Packet ratio =
        pselect(pcmp_eq(small, large), one, pdiv(small, large));
    return pmul(large, psqrt(padd(one, pmul(ratio, ratio))));
  }
};

}  // namespace op_by_op

// A packet operation, where there are square roots of packets.
template <typename T>
struct Eigen::internal::functor_traits<op_by_op::Hypotenuse<T>> {
  enum { PacketAccess = packet_traits<T>::HasSqrt, Cost = 20 };
};

namespace op_by_op {
namespace {

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
