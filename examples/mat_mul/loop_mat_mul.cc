// LoopMatMul: the product of two matrices by loops that anyone would write.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace op_by_op {
namespace {

// The same product in different orders of the loops.
REGISTER_OP("LoopMatMul")
    .Attr("order: {'elements', 'rows', 'blocks'} = 'elements'")
    .Input("a: float")
    .Input("b: float")
    .Output("c: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle a, b;
      tensorflow::shape_inference::DimensionHandle inner;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &a));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &b));
      TF_RETURN_IF_ERROR(
          context->Merge(context->Dim(a, 1), context->Dim(b, 0), &inner));
      context->set_output(
          0, context->Matrix(context->Dim(a, 0), context->Dim(b, 1)));
      return absl::OkStatus();
    })
    .Doc("Computes the product of two matrices by plain loops.");

// [elements] Each element of c is a sum of products, computed to its end.
void ByElements(const float* a, const float* b, float* c, int64_t rows,
                int64_t inner, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        sum += a[i * inner + k] * b[k * columns + j];
      }
      c[i * columns + j] = sum;
    }
  }
}

// [rows] The two inner loops are swapped: a row of b is added to a row of c.
void ByRows(const float* a, const float* b, float* c, int64_t rows,
            int64_t inner, int64_t columns, int64_t first_k, int64_t end_k,
            int64_t first_j, int64_t end_j) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = first_k; k < end_k; ++k) {
      const float factor = a[i * inner + k];
      for (int64_t j = first_j; j < end_j; ++j) {
        c[i * columns + j] += factor * b[k * columns + j];
      }
    }
  }
}

// [blocks] The same for a block of b after the other, each for all rows.
void ByBlocks(const float* a, const float* b, float* c, int64_t rows,
              int64_t inner, int64_t columns) {
  constexpr int64_t kHeight = 128, kWidth = 512;  // 256 KiB
  for (int64_t j = 0; j < columns; j += kWidth) {
    for (int64_t k = 0; k < inner; k += kHeight) {
      ByRows(a, b, c, rows, inner, columns, k, std::min(k + kHeight, inner), j,
             std::min(j + kWidth, columns));
    }
  }
}

// On one thread.
class LoopMatMulOp : public tensorflow::OpKernel {
 public:
  explicit LoopMatMulOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("order", &order_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& a = context->input(0);
    const tensorflow::Tensor& b = context->input(1);
    OP_REQUIRES(
        context,
        a.dims() == 2 && b.dims() == 2 && a.dim_size(1) == b.dim_size(0),
        absl::InvalidArgumentError(absl::StrCat(
            "a and b must be matrices, b with a row for each column of a, got ",
            a.shape().DebugString(), " and ", b.shape().DebugString())));
    const int64_t rows = a.dim_size(0), inner = a.dim_size(1),
                  columns = b.dim_size(1);
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::TensorShape::BuildTensorShape(
                                {rows, columns}, &shape));
    tensorflow::Tensor* out = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &out));
    const float* from_a = a.flat<float>().data();
    const float* from_b = b.flat<float>().data();
    float* c = out->flat<float>().data();
    std::fill_n(c, out->NumElements(), 0.0f);
    if (order_ == "elements") {
      ByElements(from_a, from_b, c, rows, inner, columns);
    } else if (order_ == "rows") {
      ByRows(from_a, from_b, c, rows, inner, columns, 0, inner, 0, columns);
    } else {
      ByBlocks(from_a, from_b, c, rows, inner, columns);
    }
  }

 private:
  std::string order_;
};

REGISTER_KERNEL_BUILDER(Name("LoopMatMul").Device(tensorflow::DEVICE_CPU),
                        LoopMatMulOp);

}  // namespace
}  // namespace op_by_op
