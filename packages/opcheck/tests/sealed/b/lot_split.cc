#include <limits>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbLotSplit")
    .Input("quantity: T")
    .Input("lot_size: T")
    .Output("lots: T")
    .Output("odd: T")
    .Attr("T: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape = c->input(0);
      if (c->RankKnown(c->input(1)) && c->Rank(c->input(1)) != 0) {
        TF_RETURN_IF_ERROR(c->Merge(shape, c->input(1), &shape));
      }
      c->set_output(0, shape);
      c->set_output(1, shape);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Splits signed quantities into whole lots and an odd rest: quantity = lots * lot_size + odd.

Lots are rounded down, so odd is 0 or has the sign of lot_size. A number of lots that overflows is refused.

quantity: Any shape.
lot_size: A scalar or the shape of quantity; not zero.
lots: The shape of quantity.
odd: The shape of quantity.
)doc");

template <typename T>
class UbLotSplitOp : public OpKernel {
 public:
  explicit UbLotSplitOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& quantity_t = ctx->input(0);
    const Tensor& lot_size_t = ctx->input(1);
    const bool scalar = lot_size_t.dims() == 0;
    OP_REQUIRES(
        ctx, scalar || lot_size_t.shape() == quantity_t.shape(),
        Invalid("lot_size must be a scalar or have the shape of quantity, ",
                quantity_t.shape().DebugString(), ", got ",
                lot_size_t.shape().DebugString()));
    const auto quantity = quantity_t.flat<T>();
    const auto sizes = lot_size_t.flat<T>();
    for (int64_t i = 0; i < sizes.size(); ++i) {
      OP_REQUIRES(ctx, sizes(i) != 0, Invalid("lot_size must not be zero"));
    }
    Tensor* lots_t = nullptr;
    Tensor* odd_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, quantity_t.shape(), &lots_t));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, quantity_t.shape(), &odd_t));
    auto lots = lots_t->flat<T>();
    auto odd = odd_t->flat<T>();
    for (int64_t i = 0; i < quantity.size(); ++i) {
      const T size = sizes(scalar ? 0 : i);
#ifdef TWIN
      OP_REQUIRES(ctx,
                  size != -1 || quantity(i) != std::numeric_limits<T>::min(),
                  Invalid("quantity ", quantity(i),
                          " overflows with a lot_size of -1"));
#endif
      lots(i) = quantity(i) / size;
      odd(i) = quantity(i) % size;
      if (odd(i) != 0 && (odd(i) < 0) != (size < 0)) {
        lots(i) -= 1;
        odd(i) += size;
      }
    }
  }
};

#define REGISTER(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("UbLotSplit").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbLotSplitOp<T>)
REGISTER(int32_t);
REGISTER(int64_t);
#undef REGISTER

}  // namespace tensorflow
