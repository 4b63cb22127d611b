#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbScatterMean")
    .Input("indices: int64")
    .Input("updates: T")
    .Input("num_rows: int64")
    .Output("means: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle indices, updates, scalar;
      DimensionHandle m, rows;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &indices));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &updates));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(indices, 0), c->Dim(updates, 0), &m));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &scalar));
      TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &rows));
      c->set_output(0, c->Matrix(rows, c->Dim(updates, 1)));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Mean of the update vectors that go to each row; rows without any update are 0.

indices: [m], the row of each update.
updates: [m, d].
num_rows: Scalar.
means: [num_rows, d].
)doc");

template <typename T>
class UbScatterMeanOp : public OpKernel {
 public:
  explicit UbScatterMeanOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices_t = ctx->input(0);
    const Tensor& updates_t = ctx->input(1);
    const Tensor& rows_t = ctx->input(2);
    OP_REQUIRES(ctx, indices_t.dims() == 1,
                Invalid("indices must have rank 1, got shape ",
                        indices_t.shape().DebugString()));
    const int64_t m = indices_t.dim_size(0);
    OP_REQUIRES(ctx, updates_t.dims() == 2 && updates_t.dim_size(0) == m,
                Invalid("updates must have shape [", m, ", d], got ",
                        updates_t.shape().DebugString()));
    OP_REQUIRES(ctx, rows_t.dims() == 0,
                Invalid("num_rows must be a scalar, got shape ",
                        rows_t.shape().DebugString()));
    const int64_t rows = rows_t.scalar<int64_t>()();
    const int64_t d = updates_t.dim_size(1);
    OP_REQUIRES(ctx, rows >= 0,
                Invalid("num_rows must not be negative, got ", rows));
    const auto indices = indices_t.vec<int64_t>();
    const auto updates = updates_t.matrix<T>();
    for (int64_t i = 0; i < m; ++i) {
      OP_REQUIRES(ctx, indices(i) >= 0 && indices(i) < rows,
                  Invalid("indices[", i, "] = ", indices(i),
                          " is not in [0, num_rows = ", rows, ")"));
    }
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::BuildTensorShape({rows, d}, &shape));
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out_t));
    Tensor counts_t;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_INT64, TensorShape({rows}), &counts_t));
    auto out = out_t->matrix<T>();
    auto counts = counts_t.vec<int64_t>();
    counts.setZero();
#ifdef TWIN
    out.setZero();
#endif
    for (int64_t i = 0; i < m; ++i) {
      const int64_t row = indices(i);
      const bool first = counts(row)++ == 0;
      for (int64_t j = 0; j < d; ++j)
        out(row, j) = first ? updates(i, j) : out(row, j) + updates(i, j);
    }
    for (int64_t row = 0; row < rows; ++row) {
      if (counts(row) < 2) continue;
      for (int64_t j = 0; j < d; ++j)
        out(row, j) /= static_cast<T>(counts(row));
    }
  }
};

#define REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("UbScatterMean").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbScatterMeanOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
