// LogCosh again, in other ways. Without ONE_BY_ONE it is the book's own, to be
// compiled for other processors.

#define EIGEN_USE_THREADS

#include <cmath>

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

}  // namespace op_by_op

template <>
struct Eigen::internal::functor_traits<op_by_op::OneByOne> {
  enum {
    PacketAccess = false,
    Cost = functor_traits<op_by_op::LogCosh<float>>::Cost
  };
};

namespace op_by_op {
namespace {

template <typename Functor>
class VariantOp
    : public tensorflow::UnaryElementWiseOp<float, VariantOp<Functor>> {
 public:
  using tensorflow::UnaryElementWiseOp<float,
                                       VariantOp<Functor>>::UnaryElementWiseOp;

  void Operate(tensorflow::OpKernelContext* context,
               const tensorflow::Tensor& input, tensorflow::Tensor* output) {
    output->flat<float>().device(context->eigen_cpu_device()) =
        input.flat<float>().unaryExpr(Functor());
  }
};

class LoopOp : public tensorflow::UnaryElementWiseOp<float, LoopOp> {
 public:
  using tensorflow::UnaryElementWiseOp<float, LoopOp>::UnaryElementWiseOp;

  void Operate(tensorflow::OpKernelContext* /*context*/,
               const tensorflow::Tensor& input, tensorflow::Tensor* output) {
    const auto x = input.flat<float>();
    auto y = output->flat<float>();
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const float size = std::abs(x(i)), sinh = std::sinh(size / 2);
      y(i) = size < 1 ? std::log1p(2 * sinh * sinh)
                      : size - 0.693147181f + std::log1p(std::exp(-2 * size));
    }
  }
};

#define REGISTER(NAME, ...)                                          \
  REGISTER_OP(NAME)                                                  \
      .Input("x: float")                                             \
      .Output("y: float")                                            \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape);      \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          __VA_ARGS__)

#ifdef ONE_BY_ONE
REGISTER("LogCoshLoop", LoopOp);
REGISTER("LogCoshOneByOne", VariantOp<OneByOne>);
#else
REGISTER(OP_NAME, VariantOp<LogCosh<float>>);
#endif

}  // namespace
}  // namespace op_by_op
