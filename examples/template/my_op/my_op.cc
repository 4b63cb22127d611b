// MyOp: the square of each element.

#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// [interface] One input, one output of the same type.
REGISTER_OP("MyOp")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    // [shape] The output has the shape of the input.
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [kernel] Squares each element.
template <typename T>
class MyOpOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto x = input.flat<T>();
    auto y = output->flat<T>();
    for (int64_t i = 0; i < x.size(); ++i) y(i) = x(i) * x(i);
  }
};

// [register] This class for tensors on the CPU, once for each type.
REGISTER_KERNEL_BUILDER(
    Name("MyOp").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    MyOpOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("MyOp").Device(tensorflow::DEVICE_CPU).TypeConstraint<double>("T"),
    MyOpOp<double>);

}  // namespace
}  // namespace op_by_op
