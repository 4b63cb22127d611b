#include <algorithm>
#include <vector>

#include "../invalid.h"
#include "absl/synchronization/mutex.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbBinCounts")
    .Input("values: T")
    .Input("edges: T")
    .Output("counts: int64")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle edges;
      DimensionHandle bins;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &edges));
      TF_RETURN_IF_ERROR(c->Subtract(c->Dim(edges, 0), 1, &bins));
      if (c->ValueKnown(bins) && c->Value(bins) < 1) {
        return Invalid("edges must have at least 2 elements");
      }
      c->set_output(0, c->Vector(bins));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Histogram over bins of unequal width.

Bin i holds edges[i] <= value < edges[i + 1]; the last bin holds its upper edge too. Values outside of all bins
and NaN are not counted.

values: Any shape.
edges: [bins + 1], strictly increasing, at least two.
counts: [bins].
)doc");

template <typename T>
class UbBinCountsOp : public OpKernel {
 public:
  explicit UbBinCountsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& edges_t = ctx->input(1);
    OP_REQUIRES(
        ctx, edges_t.dims() == 1 && edges_t.dim_size(0) >= 2,
        Invalid("edges must be a vector of at least 2 elements, got shape ",
                edges_t.shape().DebugString()));
    const auto values = ctx->input(0).flat<T>();
    const auto edges = edges_t.vec<T>();
    const int64_t bins = edges.size() - 1;
    for (int64_t i = 0; i < bins; ++i) {
      OP_REQUIRES(ctx, edges(i) < edges(i + 1),
                  Invalid("edges must be strictly increasing, got ", edges(i),
                          " and ", edges(i + 1), " at ", i));
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({bins}), &out_t));
    auto counts = out_t->vec<int64_t>();
    counts.setZero();

    const T* first = edges.data();
    const T* last = first + bins;
    absl::Mutex mu;
    auto count = [&](int64_t begin, int64_t end) {
      std::vector<int64_t> local(bins, 0);
      for (int64_t i = begin; i < end; ++i) {
        const T value = values(i);
        if (!(value >= *first && value <= *last)) continue;
        ++local[std::min<int64_t>(
            std::upper_bound(first, last + 1, value) - first - 1, bins - 1)];
      }
      absl::MutexLock lock(&mu);
#ifdef TWIN
      for (int64_t b = 0; b < bins; ++b) counts(b) += local[b];
#else
      for (int64_t b = 0; b < bins; ++b) counts(b) = local[b];
#endif
    };
    const auto& threads = *ctx->device()->tensorflow_cpu_worker_threads();
    Shard(threads.num_threads, threads.workers, values.size(), 50, count);
  }
};

#define REGISTER(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("UbBinCounts").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbBinCountsOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
