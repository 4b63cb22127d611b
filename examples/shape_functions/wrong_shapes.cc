// Shape functions that say too little, and one that ends the process. None of
// these ops has a kernel: to trace, none is needed.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace op_by_op {
namespace {

using tensorflow::TensorShape;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;
using tensorflow::shape_inference::UnchangedShape;

// [weak] The first says nothing, the second looks at inputs[0] only.
REGISTER_OP("SilentMedian")
    .Attr("N: int >= 1")
    .Input("inputs: N * float")
    .Output("median: float");

REGISTER_OP("LazyMedian")
    .Attr("N: int >= 1")
    .Input("inputs: N * float")
    .Output("median: float")
    .SetShapeFn(UnchangedShape);

// [crash] Wrong: the value of an unknown dimension is -1.
REGISTER_OP("CrashingKroneckerProduct")
    .Input("a: float")
    .Input("b: float")
    .Output("product: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle a, b, product;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &a));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &b));
      const auto size = [context](ShapeHandle shape, int dimension) {
        return context->Value(context->Dim(shape, dimension));
      };
      const TensorShape shape(
          {size(a, 0) * size(b, 0), size(a, 1) * size(b, 1)});
      TF_RETURN_IF_ERROR(context->MakeShapeFromTensorShape(shape, &product));
      context->set_output(0, product);
      return absl::OkStatus();
    });

}  // namespace
}  // namespace op_by_op
