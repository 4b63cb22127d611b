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
      const auto size = [context](int input, int dimension) {
        return context->Value(context->Dim(context->input(input), dimension));
      };
      const TensorShape shape(
          {size(0, 0) * size(1, 0), size(0, 1) * size(1, 1)});
      ShapeHandle product;
      TF_RETURN_IF_ERROR(context->MakeShapeFromTensorShape(shape, &product));
      context->set_output(0, product);
      return absl::OkStatus();
    });

}  // namespace
}  // namespace op_by_op
