// EveryOtherRow with a shape function that tells the truth.

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [shape] Half of the rows, rounded up; the other dimensions stay.
REGISTER_OP("EveryOtherRow")
    .Input("rows: float")
    .Output("every_other: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle rows, every_other;
      DimensionHandle dropped, kept;
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &rows));
      const DimensionHandle count = context->Dim(rows, 0);
      TF_RETURN_IF_ERROR(
          context->Divide(count, 2, /*evenly_divisible=*/false, &dropped));
      TF_RETURN_IF_ERROR(context->Subtract(count, dropped, &kept));
      TF_RETURN_IF_ERROR(context->ReplaceDim(rows, 0, kept, &every_other));
      context->set_output(0, every_other);
      return absl::OkStatus();
    });

}  // namespace
}  // namespace op_by_op
