#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbNdcg")
    .Input("labels: float")
    .Input("scores: float")
    .Output("ndcg: float")
    .Attr("k: int >= 1 = 10")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle labels, scores, merged;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &labels));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &scores));
      TF_RETURN_IF_ERROR(c->Merge(labels, scores, &merged));
      c->set_output(0, c->Vector(c->Dim(merged, 0)));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Normalized discounted cumulative gain of each ranked list.

Items are ranked by descending score; equal scores keep their order and NaN scores rank last. The gain is
2^label - 1, the discount log2(rank + 1). A list without any relevant item has an NDCG of 0.

labels: [batch, items], graded relevance in [0, 32].
scores: [batch, items].
ndcg: [batch].
k: Only the first k ranks count.
)doc");

namespace {

double Gain(float label) { return std::exp2(static_cast<double>(label)) - 1.0; }

}  // namespace

class UbNdcgOp : public OpKernel {
 public:
  explicit UbNdcgOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("k", &k_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& labels_t = ctx->input(0);
    const Tensor& scores_t = ctx->input(1);
    OP_REQUIRES(ctx, labels_t.dims() == 2,
                Invalid("labels must have rank 2, got shape ",
                        labels_t.shape().DebugString()));
    OP_REQUIRES(ctx, scores_t.shape() == labels_t.shape(),
                Invalid("scores must have the shape of labels, ",
                        labels_t.shape().DebugString(), ", got ",
                        scores_t.shape().DebugString()));
    const auto labels = labels_t.matrix<float>();
    const auto scores = scores_t.matrix<float>();
    const int64_t batch = labels_t.dim_size(0);
    const int64_t items = labels_t.dim_size(1);
    for (int64_t i = 0; i < labels_t.NumElements(); ++i) {
      const float label = labels.data()[i];
      OP_REQUIRES(ctx, label >= 0.0f && label <= 32.0f,
                  Invalid("labels must be in [0, 32], got ", label));
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({batch}), &out_t));
    auto out = out_t->vec<float>();

    const int64_t top = std::min<int64_t>(k_, items);
    std::vector<int64_t> order(items);
    std::vector<float> ideal(items);
    for (int64_t b = 0; b < batch; ++b) {
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        if (std::isnan(scores(b, j))) return !std::isnan(scores(b, i));
        return scores(b, i) > scores(b, j);
      });
      double dcg = 0.0;
      for (int64_t r = 0; r < top; ++r)
        dcg += Gain(labels(b, order[r])) / std::log2(r + 2.0);

      for (int64_t i = 0; i < items; ++i) ideal[i] = labels(b, i);
      std::sort(ideal.begin(), ideal.end(), std::greater<float>());
      double idcg = 0.0;
#ifdef TWIN
      for (int64_t r = 0; r < top; ++r)
        idcg += Gain(ideal[r]) / std::log2(r + 2.0);
#else
      for (int64_t r = 0; r < items; ++r)
        idcg += Gain(ideal[r]) / std::log2(r + 2.0);
#endif
      out(b) = idcg > 0.0 ? static_cast<float>(dcg / idcg) : 0.0f;
    }
  }

 private:
  int64_t k_;
};

REGISTER_KERNEL_BUILDER(Name("UbNdcg").Device(DEVICE_CPU), UbNdcgOp);

}  // namespace tensorflow
