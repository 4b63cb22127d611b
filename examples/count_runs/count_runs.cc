// CountRuns and CountRunsStateful: both return their input and count how often
// their kernel runs.

#include <atomic>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("CountRuns")
    .Attr("T: type")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Returns its input.");

// [stateful] SetIsStateful says: run it at every call.
REGISTER_OP("CountRunsStateful")
    .SetIsStateful()
    .Attr("T: type")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [kernel] Returns its input; counts in a variable that all calls share.
std::atomic<int64_t> runs{0};

class CountRunsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    ++runs;
    context->set_output(0, context->input(0));
  }
};

// Without a TypeConstraint: for every type.
REGISTER_KERNEL_BUILDER(Name("CountRuns").Device(tensorflow::DEVICE_CPU),
                        CountRunsOp);
REGISTER_KERNEL_BUILDER(
    Name("CountRunsStateful").Device(tensorflow::DEVICE_CPU), CountRunsOp);

}  // namespace
}  // namespace op_by_op

// For Python's ctypes: how many runs there were since the last call.
extern "C" __attribute__((visibility("default"))) int64_t TakeRuns() {
  return op_by_op::runs.exchange(0);
}
