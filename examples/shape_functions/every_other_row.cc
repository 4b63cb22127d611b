// EveryOtherRow twice: with a shape function that tells a lie, and the solution
// of the chapter's exercise.

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;
using tensorflow::shape_inference::UnchangedShape;

// [kernel] Rows 0, 2, 4, … of a tensor.
class EveryOtherRowOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::TensorShape shape = input.shape();
    OP_REQUIRES(context, shape.dims() >= 1,
                absl::InvalidArgumentError(
                    "rows must have at least one dimension, got a scalar"));
    const int64_t rows = shape.dim_size(0), kept = rows / 2 + rows % 2;
    shape.set_dim(0, kept);
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

// [lie] Wrong: the output has about half of the rows.
REGISTER_OP("LyingEveryOtherRow")
    .Input("rows: float")
    .Output("every_other: float")
    .SetShapeFn(UnchangedShape);

REGISTER_KERNEL_BUILDER(
    Name("LyingEveryOtherRow").Device(tensorflow::DEVICE_CPU), EveryOtherRowOp);

// [shape] Half of the rows, rounded up; the rest as it is.
REGISTER_OP("EveryOtherRow")
    .Input("rows: float")
    .Output("every_other: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle rows, every_other;
      DimensionHandle count;
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &rows));
      TF_RETURN_IF_ERROR(context->Add(context->Dim(rows, 0), 1, &count));
      TF_RETURN_IF_ERROR(
          context->Divide(count, 2, /*evenly_divisible=*/false, &count));
      TF_RETURN_IF_ERROR(context->ReplaceDim(rows, 0, count, &every_other));
      context->set_output(0, every_other);
      return absl::OkStatus();
    });

REGISTER_KERNEL_BUILDER(Name("EveryOtherRow").Device(tensorflow::DEVICE_CPU),
                        EveryOtherRowOp);

}  // namespace
}  // namespace op_by_op
