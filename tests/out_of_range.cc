// OutOfRange: what the address sanitizer and its companion must report.

#include <cstdint>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("OutOfRange")
    .Input("values: float")
    .Input("row: int32")
    .Input("columns: int32")
    .Output("picked: float");

class OutOfRangeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* picked = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &picked));
    const int32_t row = context->input(1).scalar<int32_t>()();
    const int32_t columns = context->input(2).scalar<int32_t>()();
    const int32_t index = row * columns;  // wrong: int32 can overflow
    picked->scalar<float>()() =
        context->input(0).flat<float>().data()[index];  // wrong: no check
  }
};

REGISTER_KERNEL_BUILDER(Name("OutOfRange").Device(tensorflow::DEVICE_CPU),
                        OutOfRangeOp);

}  // namespace
}  // namespace op_by_op
