// Dynamic time warping distance of pairs of sequences.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaDtwDistance")
    .Input("a: T")
    .Input("b: T")
    .Output("distance: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle a, b;
      DimensionHandle batch;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(a, 0), c->Dim(b, 0), &batch));
      c->set_output(0, c->Vector(batch));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Dynamic time warping distance of a[i] and b[i] for each i, with the cost |x - y|.

A pair of sequences that holds a value that is not finite gives NaN.

a: [batch, n] with n >= 1.
b: [batch, m] with m >= 1.
distance: [batch].
)doc");

template <typename T>
class DtwDistanceOp : public OpKernel {
 public:
  explicit DtwDistanceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& a = ctx->input(0);
    const Tensor& b = ctx->input(1);
    OP_REQUIRES(ctx, a.dims() == 2 && a.dim_size(1) >= 1,
                Invalid("a must have shape [batch, n] with n >= 1, got ",
                        a.shape().DebugString()));
    OP_REQUIRES(
        ctx,
        b.dims() == 2 && b.dim_size(1) >= 1 && b.dim_size(0) == a.dim_size(0),
        Invalid("b must have shape [", a.dim_size(0), ", m] with m >= 1, got ",
                b.shape().DebugString()));
    const int64_t n = a.dim_size(1);
    const int64_t m = b.dim_size(1);
    Tensor* distance = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({a.dim_size(0)}), &distance));
    auto x = a.matrix<T>();
    auto y = b.matrix<T>();
    auto out = distance->vec<T>();
    const T inf = std::numeric_limits<T>::infinity();
#ifndef TWIN
    std::vector<T> prev(m + 1), cur(m + 1);
#endif
    auto work = [&](int64_t begin, int64_t end) {
#ifdef TWIN
      std::vector<T> prev(m + 1), cur(m + 1);
#endif
      for (int64_t r = begin; r < end; ++r) {
        const auto finite = [](T v) { return std::isfinite(v); };
        if (!std::all_of(&x(r, 0), &x(r, 0) + n, finite) ||
            !std::all_of(&y(r, 0), &y(r, 0) + m, finite)) {
          out(r) = std::numeric_limits<T>::quiet_NaN();
          continue;
        }
        std::fill(prev.begin(), prev.end(), inf);
        prev[0] = 0;
        for (int64_t i = 0; i < n; ++i) {
          cur[0] = inf;
          for (int64_t j = 0; j < m; ++j) {
            cur[j + 1] = std::abs(x(r, i) - y(r, j)) +
                         std::min({prev[j], prev[j + 1], cur[j]});
          }
          std::copy(cur.begin(), cur.end(), prev.begin());
        }
        out(r) = prev[m];
      }
    };
    const auto& threads = *ctx->device()->tensorflow_cpu_worker_threads();
    Shard(threads.num_threads, threads.workers, out.size(), 5 * n * m, work);
  }
};

#define REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("UaDtwDistance").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      DtwDistanceOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
