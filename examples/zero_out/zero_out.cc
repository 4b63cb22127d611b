// ZeroOut: keep the first element of a tensor, zero the rest.

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// [interface] One input, one output of the same type.
REGISTER_OP("ZeroOut")
    .Attr("T: {float, double, int32}")
    .Input("to_zero: T")
    .Output("zeroed: T")
    // [shape] The output has the shape of the input.
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [kernel] Copies the first element, zeros the rest.
template <typename T>
class ZeroOutOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto in = input.flat<T>();
    auto out = output->flat<T>();
    std::fill_n(out.data(), out.size(), T{0});
    if (out.size() > 0) out(0) = in(0);
  }
};

// [register] This class for tensors on the CPU, once for each type.
REGISTER_KERNEL_BUILDER(
    Name("ZeroOut").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    ZeroOutOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("ZeroOut").Device(tensorflow::DEVICE_CPU).TypeConstraint<double>("T"),
    ZeroOutOp<double>);
REGISTER_KERNEL_BUILDER(
    Name("ZeroOut").Device(tensorflow::DEVICE_CPU).TypeConstraint<int32_t>("T"),
    ZeroOutOp<int32_t>);

}  // namespace
}  // namespace op_by_op
