// An op that forgets its second output.

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::InferenceContext;

// [missing] Wrong: there is no output 1.
class ForgetsOutputOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    context->set_output(0, context->input(0));
  }
};

REGISTER_OP("ForgetsOutput")
    .Input("values: float")
    .Output("kept: float")
    .Output("forgotten: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(0));
      context->set_output(1, context->input(0));
      return absl::OkStatus();
    });
REGISTER_KERNEL_BUILDER(Name("ForgetsOutput").Device(tensorflow::DEVICE_CPU),
                        ForgetsOutputOp);

}  // namespace
}  // namespace op_by_op
