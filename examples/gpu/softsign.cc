// Softsign: interface, and kernel for the CPU.

#include <cmath>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("OpByOp>Softsign")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Computes x / (1 + |x|).

y: Like x.
)doc");

class SoftsignOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    const auto x = context->input(0).flat<float>();
    auto y = output->flat<float>();
    for (int64_t i = 0; i < x.size(); ++i) {
      y(i) = x(i) / (1 + std::abs(x(i)));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("OpByOp>Softsign").Device(tensorflow::DEVICE_CPU),
                        SoftsignOp);

}  // namespace
}  // namespace op_by_op
