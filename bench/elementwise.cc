// An op with the functor FUNCTOR and Eigen's loop: the book's own, to be
// compiled for other processors, OneByOne or Snake.

#define EIGEN_USE_THREADS

#include "../examples/elementwise/log_cosh.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/numeric_op.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {

// The same functor, of which Eigen does not know that it has a packetOp.
struct OneByOne {
  float operator()(const float& x) const { return LogCosh<float>()(x); }
};

// x + sin(x)^2
struct Snake {
  float operator()(const float& x) const { return packetOp(x); }

  template <typename Packet>
  Packet packetOp(const Packet& x) const {
    const Packet sine = Eigen::internal::psin(x);
    return Eigen::internal::padd(x, Eigen::internal::pmul(sine, sine));
  }
};

}  // namespace op_by_op

template <>
struct Eigen::internal::functor_traits<op_by_op::Snake> {
  enum {
    PacketAccess = true,
    Cost = functor_traits<scalar_sin_op<float>>::Cost
  };
};

template <>
struct Eigen::internal::functor_traits<op_by_op::OneByOne> {
  enum {
    PacketAccess = false,
    Cost = functor_traits<op_by_op::LogCosh<float>>::Cost
  };
};

namespace op_by_op {
namespace {

class VariantOp : public tensorflow::UnaryElementWiseOp<float, VariantOp> {
 public:
  using tensorflow::UnaryElementWiseOp<float, VariantOp>::UnaryElementWiseOp;

  void Operate(tensorflow::OpKernelContext* context,
               const tensorflow::Tensor& input, tensorflow::Tensor* output) {
    output->flat<float>().device(context->eigen_cpu_device()) =
        input.flat<float>().unaryExpr(FUNCTOR());
  }
};

REGISTER_OP(OP_NAME)
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

REGISTER_KERNEL_BUILDER(Name(OP_NAME).Device(tensorflow::DEVICE_CPU),
                        VariantOp);

}  // namespace
}  // namespace op_by_op
