// Expands a run-length encoding.
#include <algorithm>
#include <limits>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaRunLengthDecode")
    .Input("values: T")
    .Input("counts: Tcount")
    .Output("decoded: T")
    .Attr("T: {float, double, int32, int64, uint8, bool, string}")
    .Attr("Tcount: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle values, counts;
      DimensionHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &values));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &counts));
      TF_RETURN_IF_ERROR(
          c->Merge(c->Dim(values, 0), c->Dim(counts, 0), &unused));
      c->set_output(0, c->Vector(InferenceContext::kUnknownDim));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Repeats values[i] counts[i] times, one run after the other.

values: Vector with the value of each run.
counts: Vector with the length of each run, not negative; as long as values.
decoded: Vector with sum(counts) elements.
)doc");

template <typename T, typename Tcount>
class RunLengthDecodeOp : public OpKernel {
 public:
  explicit RunLengthDecodeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& values = ctx->input(0);
    const Tensor& counts = ctx->input(1);
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(values.shape()),
                Invalid("values must be a vector, got shape ",
                        values.shape().DebugString()));
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(counts.shape()),
                Invalid("counts must be a vector, got shape ",
                        counts.shape().DebugString()));
    OP_REQUIRES(ctx, values.NumElements() == counts.NumElements(),
                Invalid("counts must be as long as values, got ",
                        counts.NumElements(), " and ", values.NumElements()));
    auto value = values.vec<T>();
    auto count = counts.vec<Tcount>();
    int64_t total = 0;
    for (int64_t i = 0; i < count.size(); ++i) {
#ifdef TWIN
      OP_REQUIRES(ctx, count(i) >= 0,
                  Invalid("counts must not be negative, got counts[", i,
                          "] = ", count(i)));
#endif
      OP_REQUIRES(ctx, count(i) <= std::numeric_limits<int64_t>::max() - total,
                  Invalid("counts has a sum that is too large"));
      total += count(i);
    }
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::BuildTensorShape({total}, &shape));
    Tensor* decoded = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &decoded));
    T* out = decoded->vec<T>().data();
    for (int64_t i = 0; i < count.size(); ++i) {
      out = std::fill_n(out, count(i), value(i));
    }
  }
};

#define REGISTER_BOTH(T, Tcount)                                 \
  REGISTER_KERNEL_BUILDER(Name("UaRunLengthDecode")              \
                              .Device(DEVICE_CPU)                \
                              .TypeConstraint<T>("T")            \
                              .TypeConstraint<Tcount>("Tcount"), \
                          RunLengthDecodeOp<T, Tcount>)
#define REGISTER(T)          \
  REGISTER_BOTH(T, int32_t); \
  REGISTER_BOTH(T, int64_t)
REGISTER(float);
REGISTER(double);
REGISTER(int32_t);
REGISTER(int64_t);
REGISTER(uint8_t);
REGISTER(bool);
REGISTER(tstring);
#undef REGISTER
#undef REGISTER_BOTH

}  // namespace
}  // namespace tensorflow
