// The interfaces and shape functions of the chapter's two ops, which
// shape_functions_kernels.cc computes.

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace op_by_op {
namespace {

using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [cross] "[?,3];[?,4]" -> "[?,12]"
REGISTER_OP("CrossFeatures")
    .Input("users: float")
    .Input("items: float")
    .Output("products: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle users, items;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &users));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &items));
      DimensionHandle batch, columns;
      TF_RETURN_IF_ERROR(context->Merge(context->Dim(users, 0),
                                        context->Dim(items, 0), &batch));
      TF_RETURN_IF_ERROR(context->Multiply(context->Dim(users, 1),
                                           context->Dim(items, 1), &columns));
      context->set_output(0, context->Matrix(batch, columns));
      return absl::OkStatus();
    });

// [value] The second input holds the shape of the output.
REGISTER_OP("CropOrPad")
    .Attr("Tshape: {int32, int64}")
    .Input("input: float")
    .Input("shape: Tshape")
    .Output("resized: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle resized;
      TF_RETURN_IF_ERROR(context->MakeShapeFromShapeTensor(1, &resized));
      if (context->RankKnown(context->input(0))) {
        TF_RETURN_IF_ERROR(context->WithRank(
            resized, context->Rank(context->input(0)), &resized));
      }
      context->set_output(0, resized);
      // [known] Where the value is known, a size of -1 is an error.
      if (const tensorflow::Tensor* shape = context->input_tensor(1)) {
        TensorShape ignored;
        TF_RETURN_WITH_CONTEXT_IF_ERROR(
            tensorflow::tensor::MakeShape(*shape, &ignored),
            "shape must hold sizes");
      }
      return absl::OkStatus();
    });

}  // namespace
}  // namespace op_by_op
