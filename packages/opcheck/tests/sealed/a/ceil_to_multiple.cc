// Rounds integers up to a multiple.
#include <limits>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaCeilToMultiple")
    .Input("x: T")
    .Input("multiple: T")
    .Output("y: T")
    .Attr("T: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The smallest multiple of `multiple` that is not less than x, for each x of either sign.

x: Integers of any shape. It is an error if a result does not fit the type.
multiple: Scalar, positive.
)doc");

template <typename T>
class CeilToMultipleOp : public OpKernel {
 public:
  explicit CeilToMultipleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const Tensor& multiple = ctx->input(1);
    OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(multiple.shape()),
                Invalid("multiple must be a scalar, got shape ",
                        multiple.shape().DebugString()));
    const T m = multiple.scalar<T>()();
    OP_REQUIRES(ctx, m > 0, Invalid("multiple must be positive, got ", m));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      const T rest = in(i) % m;
#ifdef TWIN
      const T gap = rest > 0 ? m - rest : -rest;
#else
      const T gap = rest != 0 ? m - rest : 0;
#endif
      OP_REQUIRES(ctx, in(i) <= std::numeric_limits<T>::max() - gap,
                  Invalid("x is too large to round up to a multiple of ", m,
                          ", got ", in(i)));
      out(i) = in(i) + gap;
    }
  }
};

#define REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("UaCeilToMultiple").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CeilToMultipleOp<T>)
REGISTER(int32_t);
REGISTER(int64_t);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
