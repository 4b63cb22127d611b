// EveryOtherRow with a shape function that tells the truth.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

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

}  // namespace
}  // namespace op_by_op
