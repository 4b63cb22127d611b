// The exercise: GramMatrix, the product of a transposed matrix and itself.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace op_by_op {
namespace {

REGISTER_OP("GramMatrix")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle x;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &x));
      context->set_output(
          0, context->Matrix(context->Dim(x, 1), context->Dim(x, 1)));
      return absl::OkStatus();
    })
    .Doc("Computes the products of all pairs of columns of a matrix.");

class GramMatrixOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& x = context->input(0);
    OP_REQUIRES(
        context, tensorflow::TensorShapeUtils::IsMatrix(x.shape()),
        absl::InvalidArgumentError(absl::StrCat(
            "x must be a matrix, got shape ", x.shape().DebugString())));
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::TensorShape::BuildTensorShape(
                                {x.dim_size(1), x.dim_size(1)}, &shape));
    tensorflow::Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &y));
    if (shape.num_elements() == 0) return;
    // [compute] Row after row, each pair of its elements.
    y->flat<float>().setZero();
    const auto from = x.matrix<float>();
    auto sums = y->matrix<float>();
    for (int64_t k = 0; k < x.dim_size(0); ++k) {
      for (int64_t i = 0; i < x.dim_size(1); ++i) {
        for (int64_t j = 0; j < x.dim_size(1); ++j) {
          sums(i, j) += from(k, i) * from(k, j);
        }
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("GramMatrix").Device(tensorflow::DEVICE_CPU),
                        GramMatrixOp);

// [gradient] dx = x dy + x dyᵀ, since x is in the product twice.
absl::Status GramMatrixGrad(const tensorflow::AttrSlice& /*attrs*/,
                            tensorflow::FunctionDef* function) {
  const auto type = tensorflow::DT_FLOAT;
  *function = tensorflow::FunctionDefHelper::Create(
      "GramMatrixGrad", {"x: float", "dy: float"}, {"dx: float"}, {},
      {{{"right"}, "MatMul", {"x", "dy"}, {{"T", type}}},
       {{"left"}, "MatMul", {"x", "dy"}, {{"T", type}, {"transpose_b", true}}},
       {{"sum"},
        "AddV2",
        {"right:product:0", "left:product:0"},
        {{"T", type}}}},
      {{"dx", "sum:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("GramMatrix", GramMatrixGrad);

}  // namespace
}  // namespace op_by_op
