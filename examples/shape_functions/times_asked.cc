// An op that tells how often its own shape function has been called.

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

// Stateful, so that no two calls are taken for one.
std::atomic<int64_t> times_asked{0};

REGISTER_OP("TimesAsked")
    .Input("x: float")
    .Output("times: int64")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      ++times_asked;
      context->set_output(0, context->Scalar());
      return absl::OkStatus();
    });

class TimesAskedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* times = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &times));
    times->scalar<int64_t>()() = times_asked;
  }
};

REGISTER_KERNEL_BUILDER(Name("TimesAsked").Device(tensorflow::DEVICE_CPU),
                        TimesAskedOp);

}  // namespace
}  // namespace op_by_op
