// KeepAt: the solution of the chapter's exercise.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] The index is a tensor, so its shape is to be checked too.
REGISTER_OP("KeepAt")
    .Input("to_zero: float")
    .Input("index: int64")
    .Output("zeroed: float")
    .SetShapeFn([](InferenceContext* context) -> absl::Status {
      ShapeHandle scalar;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 0, &scalar));
      context->set_output(0, context->input(0));
      return absl::OkStatus();
    });

// [kernel] Each call brings another index: Compute checks it.
class KeepAtOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    const tensorflow::Tensor& index_input = context->input(1);
    OP_REQUIRES(context, index_input.dims() == 0,
                absl::InvalidArgumentError(
                    absl::StrCat("index must be a scalar, but has shape ",
                                 index_input.shape().DebugString())));
    const int64_t index = index_input.scalar<int64_t>()();
    OP_REQUIRES(
        context, index >= 0 && index < input.NumElements(),
        absl::InvalidArgumentError(absl::StrCat(
            "index must be at least 0 and less than the size of to_zero, ",
            input.NumElements(), ", but is ", index)));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto in = input.flat<float>();
    auto out = output->flat<float>();
    std::fill_n(out.data(), out.size(), 0.0f);
    out(index) = in(index);
  }
};

REGISTER_KERNEL_BUILDER(Name("KeepAt").Device(tensorflow::DEVICE_CPU),
                        KeepAtOp);

}  // namespace
}  // namespace op_by_op
