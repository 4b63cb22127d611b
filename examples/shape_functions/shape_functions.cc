// The interfaces and shape functions of seven small ops, which
// shape_functions_kernels.cc computes.

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace op_by_op {
namespace {

using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [mat_vec] "[?,3];[3]" -> "[?]"
REGISTER_OP("MatVec")
    .Input("matrix: float")
    .Input("vector: float")
    .Output("product: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle matrix, vector;
      DimensionHandle inner;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &matrix));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &vector));
      TF_RETURN_IF_ERROR(context->Merge(context->Dim(matrix, 1),
                                        context->Dim(vector, 0), &inner));
      context->set_output(0, context->Vector(context->Dim(matrix, 0)));
      return absl::OkStatus();
    })
    .Doc("Multiplies a matrix by a vector.");

// [rgb_to_gray] "[?,?,?]" -> "[?,?,1]"; the rank is free.
REGISTER_OP("RgbToGray")
    .Input("rgb: float")
    .Output("gray: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle rgb, gray;
      DimensionHandle channels;
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &rgb));
      TF_RETURN_IF_ERROR(
          context->WithValue(context->Dim(rgb, -1), 3, &channels));
      TF_RETURN_IF_ERROR(
          context->ReplaceDim(rgb, -1, context->MakeDim(1), &gray));
      context->set_output(0, gray);
      return absl::OkStatus();
    })
    .Doc("Weighs red, green and blue, the last dimension, into one channel.");

// [direct_sum] "[2,?];[3,4]" -> "[5,?]": a and b along the diagonal.
REGISTER_OP("DirectSum")
    .Input("a: float")
    .Input("b: float")
    .Output("sum: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle a, b;
      DimensionHandle rows, columns;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &a));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &b));
      TF_RETURN_IF_ERROR(
          context->Add(context->Dim(a, 0), context->Dim(b, 0), &rows));
      TF_RETURN_IF_ERROR(
          context->Add(context->Dim(a, 1), context->Dim(b, 1), &columns));
      context->set_output(0, context->Matrix(rows, columns));
      return absl::OkStatus();
    })
    .Doc("Puts two matrices along the diagonal of one, zeros elsewhere.");

// [kronecker] "[2,?];[3,4]" -> "[6,?]": a copy of b for each element of a.
REGISTER_OP("KroneckerProduct")
    .Input("a: float")
    .Input("b: float")
    .Output("product: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle a, b;
      DimensionHandle rows, columns;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &a));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &b));
      TF_RETURN_IF_ERROR(
          context->Multiply(context->Dim(a, 0), context->Dim(b, 0), &rows));
      TF_RETURN_IF_ERROR(
          context->Multiply(context->Dim(a, 1), context->Dim(b, 1), &columns));
      context->set_output(0, context->Matrix(rows, columns));
      return absl::OkStatus();
    })
    .Doc("Replaces each element of a by that element times b.");

// [median] "[?,3];[2,?];?" -> "[2,3]": each input may know another dimension.
REGISTER_OP("ElementwiseMedian")
    .Attr("N: int >= 1")
    .Input("inputs: N * float")
    .Output("median: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle merged = context->input(0);
      for (int i = 1; i < context->num_inputs(); ++i) {
        TF_RETURN_WITH_CONTEXT_IF_ERROR(
            context->Merge(context->input(i), merged, &merged), "inputs[", i,
            "] does not fit those before it");
      }
      context->set_output(0, merged);
      return absl::OkStatus();
    })
    .Doc("The median of tensors of one shape, for each element.");

// [crop_or_pad] The second input holds the shape of the output.
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
      if (const tensorflow::Tensor* shape = context->input_tensor(1)) {
        TensorShape ignored;
        TF_RETURN_WITH_CONTEXT_IF_ERROR(
            tensorflow::tensor::MakeShape(*shape, &ignored),
            "shape must hold sizes");
      }
      context->set_output(0, resized);
      return absl::OkStatus();
    })
    .Doc("Cuts off or fills up with zeros, at the end of each dimension.");

// [unit_impulse] One input element for each dimension of the output.
REGISTER_OP("UnitImpulse")
    .Attr("size: int >= 1")
    .Input("position: int64")
    .Output("impulse: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle position;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 1, &position));
      const DimensionHandle elements = context->Dim(position, 0);
      if (!context->ValueKnown(elements)) {
        context->set_output(0, context->UnknownShape());
        return absl::OkStatus();
      }
      const int64_t rank = context->Value(elements);
      if (rank > TensorShape::MaxDimensions()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "position must have at most ", TensorShape::MaxDimensions(),
            " elements, got ", rank));
      }
      int64_t size;
      TF_RETURN_IF_ERROR(context->GetAttr("size", &size));
      context->set_output(0, context->MakeShape(std::vector<DimensionHandle>(
                                 rank, context->MakeDim(size))));
      return absl::OkStatus();
    })
    .Doc("All zeros but for a one at the position; each dimension has `size`.");

}  // namespace
}  // namespace op_by_op
