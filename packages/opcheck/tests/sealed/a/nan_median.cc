// Median over the last axis, leaving out NaN.
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

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaNanMedian")
    .Input("x: T")
    .Output("median: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x, out;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
      TF_RETURN_IF_ERROR(c->Subshape(x, 0, -1, &out));
      c->set_output(0, out);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Median over the last axis of the elements that are not NaN.

For an even number of elements it is the mean of the two in the middle. Rows without any element give NaN.

x: At least one-dimensional.
median: The shape of x without its last axis.
)doc");

template <typename T>
T Median(std::vector<T>& v) {
  const size_t n = v.size();
  if (n == 0) return std::numeric_limits<T>::quiet_NaN();
  const auto mid = v.begin() + n / 2;
  std::nth_element(v.begin(), mid, v.end());
  if (n % 2 == 1) return *mid;
#ifdef TWIN
  const T lo = *std::max_element(v.begin(), mid);
#else
  const T lo = *(mid - 1);
#endif
  const T hi = *mid;
  const T sum = lo + hi;
  return std::isfinite(sum) ? sum / 2 : lo / 2 + hi / 2;
}

template <typename T>
class NanMedianOp : public OpKernel {
 public:
  explicit NanMedianOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES(ctx, x.dims() >= 1,
                Invalid("x must be at least one-dimensional, got a scalar"));
    TensorShape shape = x.shape();
    const int64_t n = shape.dim_size(shape.dims() - 1);
    shape.RemoveLastDims(1);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    const T* in = x.flat<T>().data();
    auto out = y->flat<T>();
    auto work = [&](int64_t begin, int64_t end) {
      std::vector<T> row;
      row.reserve(n);
      for (int64_t r = begin; r < end; ++r) {
        row.clear();
        std::copy_if(in + r * n, in + (r + 1) * n, std::back_inserter(row),
                     [](T v) { return !std::isnan(v); });
        out(r) = Median(row);
      }
    };
    const auto& threads = *ctx->device()->tensorflow_cpu_worker_threads();
    Shard(threads.num_threads, threads.workers, out.size(), 20 * n + 20, work);
  }
};

#define REGISTER(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("UaNanMedian").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      NanMedianOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
