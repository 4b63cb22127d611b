// Snake: a line with a wave on it.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;

REGISTER_OP("Snake")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// The line of NumPy, as an expression of Eigen.
template <typename T>
class SnakeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, context->input(0).shape(), &output));
    using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
    const Tensor& input = context->input(0);
    const Eigen::Map<const Array> x(input.flat<T>().data(),
                                    input.NumElements());
    Eigen::Map<Array> y(output->flat<T>().data(), output->NumElements());
    y = x + x.sin().square();
  }
};

// One line per type.
REGISTER_KERNEL_BUILDER(
    Name("Snake").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    SnakeOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("Snake").Device(tensorflow::DEVICE_CPU).TypeConstraint<double>("T"),
    SnakeOp<double>);

}  // namespace
}  // namespace op_by_op
