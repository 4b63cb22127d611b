#include <algorithm>
#include <limits>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbTokenErrorRate")
    .Input("hypothesis: int32")
    .Input("hypothesis_length: int32")
    .Input("reference: int32")
    .Input("reference_length: int32")
    .Output("error_rate: float")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape;
      DimensionHandle batch = c->UnknownDim();
      for (int i = 0; i < 4; ++i) {
        TF_RETURN_IF_ERROR(
            c->WithRank(c->input(i), i % 2 == 0 ? 2 : 1, &shape));
        TF_RETURN_IF_ERROR(c->Merge(batch, c->Dim(shape, 0), &batch));
      }
      c->set_output(0, c->Vector(batch));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Token error rate of recognized sequences: edit distance over the length of the reference.

With an empty reference the rate is 0 for an empty hypothesis and infinite otherwise.

hypothesis: [batch, max_hypothesis], padded.
hypothesis_length: [batch], tokens used of each row.
reference: [batch, max_reference], padded.
reference_length: [batch], tokens used of each row.
error_rate: [batch].
)doc");

class UbTokenErrorRateOp : public OpKernel {
 public:
  explicit UbTokenErrorRateOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& hyp_t = ctx->input(0);
    const Tensor& hyp_len_t = ctx->input(1);
    const Tensor& ref_t = ctx->input(2);
    const Tensor& ref_len_t = ctx->input(3);
    OP_REQUIRES(ctx, hyp_t.dims() == 2,
                Invalid("hypothesis must have rank 2, got shape ",
                        hyp_t.shape().DebugString()));
    const int64_t batch = hyp_t.dim_size(0);
    OP_REQUIRES(ctx, ref_t.dims() == 2 && ref_t.dim_size(0) == batch,
                Invalid("reference must have shape [", batch, ", n], got ",
                        ref_t.shape().DebugString()));
    OP_REQUIRES(ctx, hyp_len_t.shape() == TensorShape({batch}),
                Invalid("hypothesis_length must have shape [", batch, "], got ",
                        hyp_len_t.shape().DebugString()));
    OP_REQUIRES(ctx, ref_len_t.shape() == TensorShape({batch}),
                Invalid("reference_length must have shape [", batch, "], got ",
                        ref_len_t.shape().DebugString()));
    const auto hyp = hyp_t.matrix<int32_t>();
    const auto ref = ref_t.matrix<int32_t>();
    const auto hyp_len = hyp_len_t.vec<int32_t>();
    const auto ref_len = ref_len_t.vec<int32_t>();
    const int64_t max_hyp = hyp_t.dim_size(1);
#ifdef TWIN
    const int64_t max_ref = ref_t.dim_size(1);
#else
    const int64_t max_ref = hyp_t.dim_size(1);
#endif
    for (int64_t b = 0; b < batch; ++b) {
      OP_REQUIRES(ctx, hyp_len(b) >= 0 && hyp_len(b) <= max_hyp,
                  Invalid("hypothesis_length must be in [0, ", max_hyp,
                          "], got ", hyp_len(b)));
      OP_REQUIRES(ctx, ref_len(b) >= 0 && ref_len(b) <= max_ref,
                  Invalid("reference_length must be in [0, ", max_ref,
                          "], got ", ref_len(b)));
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({batch}), &out_t));
    auto out = out_t->vec<float>();

    std::vector<int32_t> row;
    for (int64_t b = 0; b < batch; ++b) {
      const int32_t n = ref_len(b);
      row.resize(n + 1);
      for (int32_t j = 0; j <= n; ++j) row[j] = j;
      for (int32_t i = 1; i <= hyp_len(b); ++i) {
        int32_t diagonal = row[0];
        row[0] = i;
        for (int32_t j = 1; j <= n; ++j) {
          const int32_t substitute =
              diagonal + (hyp(b, i - 1) == ref(b, j - 1) ? 0 : 1);
          diagonal = row[j];
          row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
        }
      }
      if (n > 0) {
        out(b) = static_cast<float>(row[n]) / static_cast<float>(n);
      } else {
        out(b) =
            hyp_len(b) == 0 ? 0.0f : std::numeric_limits<float>::infinity();
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UbTokenErrorRate").Device(DEVICE_CPU),
                        UbTokenErrorRateOp);

}  // namespace tensorflow
