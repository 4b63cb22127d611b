// Sorts a sparse matrix in coordinate form and adds up duplicates.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaCoalesceCoo")
    .Input("indices: int64")
    .Input("values: T")
    .Input("dense_shape: int64")
    .Output("out_indices: int64")
    .Output("out_values: T")
    .Output("position: int64")
    .Attr("T: {float, double, int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle indices, values, shape;
      DimensionHandle n, unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &indices));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(indices, 1), 2, &unused));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &values));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(indices, 0), c->Dim(values, 0), &n));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &shape));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(shape, 0), 2, &unused));
      const DimensionHandle m = c->UnknownDim();
      c->set_output(0, c->Matrix(m, 2));
      c->set_output(1, c->Vector(m));
      c->set_output(2, c->Vector(n));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Sorts the entries of a sparse matrix by row and column, and adds up entries with the same indices.

indices: [n, 2], row and column of each entry, in any order.
values: [n].
dense_shape: Vector of two, not negative.
out_indices: [m, 2], sorted, each pair once.
out_values: [m], the sums.
position: [n], the row of out_indices that took up each entry.
)doc");

template <typename T>
class CoalesceCooOp : public OpKernel {
 public:
  explicit CoalesceCooOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(0);
    const Tensor& values = ctx->input(1);
    const Tensor& dense_shape = ctx->input(2);
    OP_REQUIRES(ctx, indices.dims() == 2 && indices.dim_size(1) == 2,
                Invalid("indices must have shape [n, 2], got ",
                        indices.shape().DebugString()));
    const int64_t n = indices.dim_size(0);
    OP_REQUIRES(ctx, values.dims() == 1 && values.dim_size(0) == n,
                Invalid("values must have shape [", n, "], got ",
                        values.shape().DebugString()));
    OP_REQUIRES(ctx, dense_shape.dims() == 1 && dense_shape.dim_size(0) == 2,
                Invalid("dense_shape must have shape [2], got ",
                        dense_shape.shape().DebugString()));
    auto index = indices.matrix<int64_t>();
    auto value = values.vec<T>();
    auto size = dense_shape.vec<int64_t>();
    OP_REQUIRES(ctx, size(0) >= 0 && size(1) >= 0,
                Invalid("dense_shape must not be negative"));

#ifdef TWIN
    std::vector<std::pair<int64_t, int64_t>> key(n);
#else
    std::vector<int> key(n);
#endif
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = index(i, 0), col = index(i, 1);
      OP_REQUIRES(ctx, row >= 0 && row < size(0) && col >= 0 && col < size(1),
                  Invalid("indices out of bounds of dense_shape: [", row, ", ",
                          col, "]"));
#ifdef TWIN
      key[i] = {row, col};
#else
      key[i] = row * size(1) + col;
#endif
    }
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return key[a] < key[b]; });
    int64_t m = 0;
    for (int64_t i = 0; i < n; ++i)
      m += i == 0 || key[order[i]] != key[order[i - 1]];

    Tensor *out_indices = nullptr, *out_values = nullptr, *position = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, TensorShape({m, 2}), &out_indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape({m}), &out_values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, TensorShape({n}), &position));
    int64_t at = -1;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t e = order[i];
      if (i == 0 || key[e] != key[order[i - 1]]) {
        ++at;
        out_indices->matrix<int64_t>()(at, 0) = index(e, 0);
        out_indices->matrix<int64_t>()(at, 1) = index(e, 1);
        out_values->vec<T>()(at) = T(0);
      }
      out_values->vec<T>()(at) += value(e);
      position->vec<int64_t>()(e) = at;
    }
  }
};

#define REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("UaCoalesceCoo").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CoalesceCooOp<T>)
REGISTER(float);
REGISTER(double);
REGISTER(int32_t);
REGISTER(int64_t);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
