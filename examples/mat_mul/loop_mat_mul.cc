// LoopMatMul: the product of two matrices by loops that anyone would write.

#include <algorithm>
#include <cstdint>
#include <cstring>
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
    .Attr("order: {'elements', 'rows', 'tiles'} = 'elements'")
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
float Element(const float* a, const float* b, int64_t i, int64_t j,
              int64_t inner, int64_t columns) {
  float sum = 0;
  for (int64_t k = 0; k < inner; ++k) {
    sum += a[i * inner + k] * b[k * columns + j];
  }
  return sum;
}

void ByElements(const float* a, const float* b, float* c, int64_t rows,
                int64_t inner, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      c[i * columns + j] = Element(a, b, i, j, inner, columns);
    }
  }
}

// [rows] The two inner loops are swapped: rows of b are added to a row of c.
void ByRows(const float* a, const float* b, float* c, int64_t rows,
            int64_t inner, int64_t columns) {
  std::fill_n(c, rows * columns, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      const float factor = a[i * inner + k];
      for (int64_t j = 0; j < columns; ++j) {
        c[i * columns + j] += factor * b[k * columns + j];
      }
    }
  }
}

// [tile] A tile of c: its sums are in registers until all products are added.
using Packet [[gnu::vector_size(16)]] = float;
constexpr int64_t kHigh = 4, kWide = 8;  // eight packets of sums

void Tile(const float* a, const float* panel, float* c, int64_t inner,
          int64_t columns) {
  Packet sums[kHigh][2] = {};
  for (int64_t k = 0; k < inner; ++k) {
    Packet b[2];
    std::memcpy(b, panel + k * kWide, sizeof b);
    for (int64_t i = 0; i < kHigh; ++i) {
      sums[i][0] += a[i * inner + k] * b[0];
      sums[i][1] += a[i * inner + k] * b[1];
    }
  }
  for (int64_t i = 0; i < kHigh; ++i) {
    std::memcpy(c + i * columns, sums[i], sizeof sums[i]);
  }
}

// [tiles] Eight columns of b at a time are packed into a panel, [inner, 8].
void ByTiles(const float* a, const float* b, float* c, int64_t rows,
             int64_t inner, int64_t columns, float* panel) {
  const int64_t whole_rows = rows - rows % kHigh;
  const int64_t whole_columns = columns - columns % kWide;
  for (int64_t j = 0; j < whole_columns; j += kWide) {
    for (int64_t k = 0; k < inner; ++k) {
      std::copy_n(b + k * columns + j, kWide, panel + k * kWide);
    }
    for (int64_t i = 0; i < whole_rows; i += kHigh) {
      Tile(a + i * inner, panel, c + i * columns + j, inner, columns);
    }
  }
  // What fills no tile.
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
      c[i * columns + j] = Element(a, b, i, j, inner, columns);
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
    const absl::Status built =
        tensorflow::TensorShape::BuildTensorShape({rows, columns}, &shape);
    OP_REQUIRES(context, built.ok(),
                absl::InvalidArgumentError(absl::StrCat(
                    "the product of a and b is too large: ", built.message())));
    tensorflow::Tensor* out = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &out));
    const float* from_a = a.flat<float>().data();
    const float* from_b = b.flat<float>().data();
    float* c = out->flat<float>().data();
    if (order_ == "elements") {
      ByElements(from_a, from_b, c, rows, inner, columns);
    } else if (order_ == "rows") {
      ByRows(from_a, from_b, c, rows, inner, columns);
    } else {
      tensorflow::Tensor panel;
      tensorflow::TensorShape panel_shape;
      OP_REQUIRES_OK(context,
                     tensorflow::TensorShape::BuildTensorShape(
                         {inner, std::min(kWide, columns)}, &panel_shape));
      OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                     panel_shape, &panel));
      ByTiles(from_a, from_b, c, rows, inner, columns,
              panel.flat<float>().data());
    }
  }

 private:
  std::string order_;
};

REGISTER_KERNEL_BUILDER(Name("LoopMatMul").Device(tensorflow::DEVICE_CPU),
                        LoopMatMulOp);

}  // namespace
}  // namespace op_by_op
