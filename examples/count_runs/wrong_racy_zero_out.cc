// RacyZeroOut: ZeroOut with the mistake that passes every test that makes one
// call at a time.

#include <algorithm>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("RacyZeroOut")
    .Attr("T: {float, int32}")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [race] Wrong: two calls at once share first_.
class RacyZeroOutOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    auto out = output->flat<float>();
    if (out.size() == 0) return;
    first_ = input.flat<float>()(0);
    std::fill_n(out.data(), out.size(), 0.0f);
    out(0) = first_;  // by now perhaps the first element of another call
  }

 private:
  float first_;
};

// None for int32, though the interface promises it.
REGISTER_KERNEL_BUILDER(Name("RacyZeroOut")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        RacyZeroOutOp);

}  // namespace
}  // namespace op_by_op
