// Order of strings in natural sort order.
#include <algorithm>
#include <numeric>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaNaturalArgsort")
    .Input("strings: string")
    .Output("order: int64")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle strings;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &strings));
      c->set_output(0, strings);
      return absl::OkStatus();
    })
    .Doc(R"doc(
The order that sorts strings the way people do: runs of digits compare as numbers, other bytes by their value.

Strings that compare equal, such as "a1" and "a01", keep their order.

strings: Vector.
order: strings[order[0]], strings[order[1]], ... are sorted.
)doc");

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Negative, zero or positive as a sorts before, with or after b.
int NaturalCompare(const tstring& a, const tstring& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (IsDigit(a[i]) && IsDigit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      int first = 0;
      for (;; ++i, ++j) {
        const bool more_a = i < a.size() && IsDigit(a[i]);
        const bool more_b = j < b.size() && IsDigit(b[j]);
        if (more_a != more_b) return more_a ? 1 : -1;
        if (!more_a) break;
        if (first == 0) first = a[i] - b[j];
      }
      if (first != 0) return first;
    } else {
      const int difference =
          static_cast<unsigned char>(a[i]) - static_cast<unsigned char>(b[j]);
      if (difference != 0) return difference;
      ++i;
      ++j;
    }
  }
  return static_cast<int>(i < a.size()) - static_cast<int>(j < b.size());
}

class NaturalArgsortOp : public OpKernel {
 public:
  explicit NaturalArgsortOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& strings = ctx->input(0);
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(strings.shape()),
                Invalid("strings must be a vector, got shape ",
                        strings.shape().DebugString()));
    auto s = strings.vec<tstring>();
    Tensor* order = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, strings.shape(), &order));
    auto out = order->vec<int64_t>();
    std::iota(out.data(), out.data() + out.size(), 0);
#ifdef TWIN
    std::stable_sort(
        out.data(), out.data() + out.size(),
        [&](int64_t a, int64_t b) { return NaturalCompare(s(a), s(b)) < 0; });
#else
    std::sort(out.data(), out.data() + out.size(), [&](int64_t a, int64_t b) {
      return NaturalCompare(s(a), s(b)) <= 0;
    });
#endif
  }
};

REGISTER_KERNEL_BUILDER(Name("UaNaturalArgsort").Device(DEVICE_CPU),
                        NaturalArgsortOp);

}  // namespace
}  // namespace tensorflow
