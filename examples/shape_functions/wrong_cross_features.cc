// CrossFeatures without a shape function, and with one that crashes.

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace op_by_op {
namespace {

using tensorflow::TensorShape;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [silent] No SetShapeFn.
REGISTER_OP("SilentCrossFeatures")
    .Input("users: float")
    .Input("items: float")
    .Output("products: float");

// [crash] Wrong: the value of an unknown dimension is -1.
REGISTER_OP("CrashingCrossFeatures")
    .Input("users: float")
    .Input("items: float")
    .Output("products: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle users, items, products;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &users));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &items));
      const auto size = [context](ShapeHandle shape, int dimension) {
        return context->Value(context->Dim(shape, dimension));
      };
      const TensorShape shape(
          {size(users, 0), size(users, 1) * size(items, 1)});
      TF_RETURN_IF_ERROR(context->MakeShapeFromTensorShape(shape, &products));
      context->set_output(0, products);
      return absl::OkStatus();
    });

}  // namespace
}  // namespace op_by_op
