// The kernel of EveryOtherRow, whose shape function is the chapter's exercise.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// Rows 0, 2, 4, … of a tensor.
class EveryOtherRowOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::TensorShape shape = input.shape();
    OP_REQUIRES(context, shape.dims() >= 1,
                absl::InvalidArgumentError(
                    "rows must have at least one dimension, got a scalar"));
    const int64_t rows = shape.dim_size(0);
    const int64_t kept = rows - rows / 2;
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(0, kept));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));

    const auto in = input.flat<float>();
    auto out = output->flat<float>();
    if (out.size() == 0) return;
    const int64_t length = in.size() / rows;
    for (int64_t r = 0; r < kept; ++r) {
      std::copy_n(&in(2 * r * length), length, &out(r * length));
    }
  }
};

REGISTER_KERNEL_BUILDER(
    Name("LyingEveryOtherRow").Device(tensorflow::DEVICE_CPU), EveryOtherRowOp);
REGISTER_KERNEL_BUILDER(Name("EveryOtherRow").Device(tensorflow::DEVICE_CPU),
                        EveryOtherRowOp);

}  // namespace
}  // namespace op_by_op
