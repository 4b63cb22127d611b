// Weighted mean of the rows of each segment.
#include <cmath>
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

REGISTER_OP("UaSegmentWeightedMean")
    .Input("data: T")
    .Input("weights: T")
    .Input("segment_ids: Tidx")
    .Output("mean: T")
    .Output("total_weight: T")
    .Attr("num_segments: int >= 0")
    .Attr("T: {float, double}")
    .Attr("Tidx: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle data, vec, rest, mean;
      DimensionHandle n;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &data));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &vec));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(data, 0), c->Dim(vec, 0), &n));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &vec));
      TF_RETURN_IF_ERROR(c->Merge(n, c->Dim(vec, 0), &n));
      int64_t num_segments;
      TF_RETURN_IF_ERROR(c->GetAttr("num_segments", &num_segments));
      TF_RETURN_IF_ERROR(c->Subshape(data, 1, &rest));
      TF_RETURN_IF_ERROR(c->Concatenate(c->Vector(num_segments), rest, &mean));
      c->set_output(0, mean);
      c->set_output(1, c->Vector(num_segments));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Weighted mean of the rows of each segment. Segments whose total weight is zero give zeros.

data: At least one-dimensional, [n, ...].
weights: Vector [n], finite and not negative.
segment_ids: Vector [n] in [0, num_segments), in any order.
mean: [num_segments, ...].
total_weight: [num_segments], the sum of the weights of each segment.
num_segments: Number of segments.
)doc");

template <typename T, typename Tidx>
class SegmentWeightedMeanOp : public OpKernel {
 public:
  explicit SegmentWeightedMeanOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_segments", &num_segments_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& data = ctx->input(0);
    const Tensor& weights = ctx->input(1);
    const Tensor& segment_ids = ctx->input(2);
    OP_REQUIRES(ctx, data.dims() >= 1,
                Invalid("data must be at least one-dimensional"));
    const int64_t n = data.dim_size(0);
    OP_REQUIRES(ctx, weights.dims() == 1 && weights.dim_size(0) == n,
                Invalid("weights must have shape [", n, "], got ",
                        weights.shape().DebugString()));
    OP_REQUIRES(ctx, segment_ids.dims() == 1 && segment_ids.dim_size(0) == n,
                Invalid("segment_ids must have shape [", n, "], got ",
                        segment_ids.shape().DebugString()));
    auto weight = weights.vec<T>();
    auto id = segment_ids.vec<Tidx>();
    for (int64_t i = 0; i < n; ++i) {
      OP_REQUIRES(
          ctx, std::isfinite(weight(i)) && weight(i) >= 0,
          Invalid("weights must be finite and not negative, got ", weight(i)));
      OP_REQUIRES(ctx, id(i) >= 0 && id(i) < num_segments_,
                  Invalid("segment_ids must be in [0, ", num_segments_,
                          "), got ", id(i)));
    }

    TensorShape shape = data.shape();
    OP_REQUIRES_OK(ctx, shape.SetDimWithStatus(0, num_segments_));
    Tensor* mean = nullptr;
    Tensor* total = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &mean));
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(1, TensorShape({num_segments_}), &total));
    auto rows = data.flat_outer_dims<T>();
    auto out = mean->flat_outer_dims<T>();
    const int64_t width = rows.dimension(1);
    std::vector<double> sum(num_segments_ * width, 0.0);
    std::vector<double> weight_sum(num_segments_, 0.0);
    for (int64_t i = 0; i < n; ++i) {
      if (weight(i) == T(0)) continue;
      weight_sum[id(i)] += weight(i);
      for (int64_t j = 0; j < width; ++j)
        sum[id(i) * width + j] += static_cast<double>(weight(i)) * rows(i, j);
    }
    for (int64_t s = 0; s < num_segments_; ++s) {
      total->vec<T>()(s) = static_cast<T>(weight_sum[s]);
      for (int64_t j = 0; j < width; ++j) {
        out(s, j) = weight_sum[s] > 0
                        ? static_cast<T>(sum[s * width + j] / weight_sum[s])
                        : T(0);
      }
    }
  }

 private:
  int64_t num_segments_;
};

#ifdef TWIN
#define REGISTER_INDEX(T, Tidx)                              \
  REGISTER_KERNEL_BUILDER(Name("UaSegmentWeightedMean")      \
                              .Device(DEVICE_CPU)            \
                              .TypeConstraint<T>("T")        \
                              .TypeConstraint<Tidx>("Tidx"), \
                          SegmentWeightedMeanOp<T, Tidx>)
#define REGISTER(T)           \
  REGISTER_INDEX(T, int32_t); \
  REGISTER_INDEX(T, int64_t)
#else
#define REGISTER(T)                                                            \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("UaSegmentWeightedMean").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SegmentWeightedMeanOp<T, int32_t>)
#endif
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
