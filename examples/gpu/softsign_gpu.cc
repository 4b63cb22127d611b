// Softsign on the GPU: TensorFlow's side, for g++.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla/stream_executor/stream.h"

namespace op_by_op {

extern "C" const char* SoftsignLaunch(void* stream, const float* x,
                                      int64_t size, float* y);

namespace {

class SoftsignGpuOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& x = context->input(0);
    tensorflow::Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    void* const stream = context->op_device_context()
                             ->stream()
                             ->platform_specific_handle()
                             .stream;
    const char* const error =
        SoftsignLaunch(stream, x.flat<float>().data(), x.NumElements(),
                       y->flat<float>().data());
    OP_REQUIRES(context, error == nullptr,
                absl::InternalError(absl::StrCat("CUDA says: ", error)));
  }
};

REGISTER_KERNEL_BUILDER(Name("OpByOp>Softsign").Device(tensorflow::DEVICE_GPU),
                        SoftsignGpuOp);

}  // namespace
}  // namespace op_by_op
