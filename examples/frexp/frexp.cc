// Frexp: a number as mantissa * 2^exponent.

#include <cmath>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

template <typename T>
class FrexpOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  // [kernel] The standard library does the work.
  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* mantissa = nullptr;
    Tensor* exponent = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, values.shape(), &mantissa));
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, values.shape(), &exponent));
    const auto in = values.flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      int power = 0;
      mantissa->flat<T>()(i) = std::frexp(in(i), &power);
      exponent->flat<int32_t>()(i) = power;
    }
  }
};

// [interface] The same op under several names: one for each mistake.
#define REGISTER_FREXP(name)                                                 \
  REGISTER_OP(name)                                                          \
      .Attr("T: {float, double}")                                            \
      .Input("values: T")                                                    \
      .Output("mantissa: T")                                                 \
      .Output("exponent: int32")                                             \
      .SetShapeFn([](InferenceContext* context) {                            \
        context->set_output(0, context->input(0));                           \
        context->set_output(1, context->input(0));                           \
        return absl::OkStatus();                                             \
      });                                                                    \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),  \
      FrexpOp<float>);                                                       \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<double>("T"), \
      FrexpOp<double>)

REGISTER_FREXP("Frexp");
REGISTER_FREXP("FrexpWithoutGradient");
REGISTER_FREXP("FrexpWithOneArgument");
REGISTER_FREXP("FrexpWithTwoGradients");
REGISTER_FREXP("FrexpIsConstant");
REGISTER_FREXP("FrexpWithReport");

}  // namespace
}  // namespace op_by_op
