// Frexp: a number as mantissa * 2^exponent.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

// [interface] Two outputs of the shape of the input.
REGISTER_OP("Frexp")
    .Attr("T: {float, double}")
    .Input("values: T")
    .Output("mantissa: T")
    .Output("exponent: int32")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(0));
      context->set_output(1, context->input(0));
      return absl::OkStatus();
    });

// [kernel] The standard library takes each number apart.
template <typename T>
class FrexpOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* mantissa_tensor = nullptr;
    Tensor* exponent_tensor = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, values.shape(), &mantissa_tensor));
    OP_REQUIRES_OK(
        context, context->allocate_output(1, values.shape(), &exponent_tensor));
    const auto in = values.flat<T>();
    auto mantissa = mantissa_tensor->flat<T>();
    auto exponent = exponent_tensor->flat<int32_t>();
    const tsl::port::ScopedDontFlushDenormal subnormals_are_not_zero;
    for (int64_t i = 0; i < in.size(); ++i) {
      mantissa(i) = std::frexp(in(i), &exponent(i));
    }
  }
};

// One kernel for each type.
REGISTER_KERNEL_BUILDER(
    Name("Frexp").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    FrexpOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("Frexp").Device(tensorflow::DEVICE_CPU).TypeConstraint<double>("T"),
    FrexpOp<double>);

}  // namespace
}  // namespace op_by_op
