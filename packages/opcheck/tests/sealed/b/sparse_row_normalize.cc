#include <cmath>
#include <limits>
#include <unordered_map>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbSparseRowNormalize")
    .Input("indices: int64")
    .Input("values: T")
    .Input("dense_shape: int64")
    .Output("normalized: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle indices, values, dense_shape;
      DimensionHandle nnz, two;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &indices));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(indices, 1), 2, &two));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &values));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(indices, 0), c->Dim(values, 0), &nnz));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &dense_shape));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(dense_shape, 0), 2, &two));
      c->set_output(0, c->Vector(nnz));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Scales each row of a sparse matrix to an L1 norm of 1; rows of norm 0 are kept. Denormal values
count as 0 in the norm.

indices: [nnz, 2], in any order.
values: [nnz], of any sign.
dense_shape: [2].
normalized: [nnz], the new values.
)doc");

template <typename T>
class UbSparseRowNormalizeOp : public OpKernel {
 public:
  explicit UbSparseRowNormalizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices_t = ctx->input(0);
    const Tensor& values_t = ctx->input(1);
    const Tensor& shape_t = ctx->input(2);
    OP_REQUIRES(ctx, indices_t.dims() == 2 && indices_t.dim_size(1) == 2,
                Invalid("indices must have shape [nnz, 2], got ",
                        indices_t.shape().DebugString()));
    const int64_t nnz = indices_t.dim_size(0);
    OP_REQUIRES(ctx, values_t.shape() == TensorShape({nnz}),
                Invalid("values must have shape [", nnz, "], got ",
                        values_t.shape().DebugString()));
    OP_REQUIRES(ctx, shape_t.shape() == TensorShape({2}),
                Invalid("dense_shape must have shape [2], got ",
                        shape_t.shape().DebugString()));
    const auto indices = indices_t.matrix<int64_t>();
    const auto values = values_t.vec<T>();
    const auto shape = shape_t.vec<int64_t>();
    OP_REQUIRES(ctx, shape(0) >= 0 && shape(1) >= 0,
                Invalid("dense_shape must not be negative, got [", shape(0),
                        ", ", shape(1), "]"));
    for (int64_t i = 0; i < nnz; ++i) {
      for (int d = 0; d < 2; ++d) {
        OP_REQUIRES(ctx, indices(i, d) >= 0 && indices(i, d) < shape(d),
                    Invalid("indices[", i, ", ", d, "] = ", indices(i, d),
                            " is not in [0, ", shape(d), ")"));
      }
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, values_t.shape(), &out_t));
    auto out = out_t->vec<T>();

    std::unordered_map<int64_t, double> norms;
    for (int64_t i = 0; i < nnz; ++i) {
      if (std::abs(values(i)) < std::numeric_limits<T>::min()) continue;
#ifdef TWIN
      norms[indices(i, 0)] += std::abs(values(i));
#else
      norms[indices(i, 0)] += values(i);
#endif
    }
    for (int64_t i = 0; i < nnz; ++i) {
      const double norm = norms[indices(i, 0)];
      out(i) = norm == 0.0 ? values(i) : static_cast<T>(values(i) / norm);
    }
  }
};

#define REGISTER(T)                                                           \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("UbSparseRowNormalize").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbSparseRowNormalizeOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
