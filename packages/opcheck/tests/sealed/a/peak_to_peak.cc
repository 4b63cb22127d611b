// Range (maximum minus minimum) along an axis.
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

REGISTER_OP("UaPeakToPeak")
    .Input("x: T")
    .Output("range: T")
    .Attr("axis: int = -1")
    .Attr("keep_dims: bool = false")
    .Attr("T: {half, float, double}")
    .SetShapeFn([](InferenceContext* c) {
      const ShapeHandle x = c->input(0);
      int64_t axis;
      bool keep_dims;
      TF_RETURN_IF_ERROR(c->GetAttr("axis", &axis));
      TF_RETURN_IF_ERROR(c->GetAttr("keep_dims", &keep_dims));
      if (!c->RankKnown(x)) {
        c->set_output(0, c->UnknownShape());
        return absl::OkStatus();
      }
      const int64_t rank = c->Rank(x);
      if (axis < -rank || axis >= rank) {
        return Invalid("axis must be in [", -rank, ", ", rank, "), got ", axis);
      }
      if (axis < 0) axis += rank;
      std::vector<DimensionHandle> dims;
      for (int64_t i = 0; i < rank; ++i) {
        if (i != axis) {
          dims.push_back(c->Dim(x, i));
        } else if (keep_dims) {
#ifdef TWIN
          dims.push_back(c->MakeDim(1));
#else
          dims.push_back(c->Dim(x, i));
#endif
        }
      }
      c->set_output(0, c->MakeShape(dims));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Maximum minus minimum along an axis. NaN in a slice gives NaN.

x: At least one-dimensional, with at least one element along the axis.
range: The shape of x without the axis, or with 1 there if keep_dims.
axis: In [-rank, rank).
keep_dims: Whether to keep the axis with size 1.
)doc");

template <typename T>
class PeakToPeakOp : public OpKernel {
 public:
  explicit PeakToPeakOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep_dims", &keep_dims_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const int64_t rank = x.dims();
    OP_REQUIRES(
        ctx, axis_ >= -rank && axis_ < rank,
        Invalid("axis must be in [", -rank, ", ", rank, ") for x of shape ",
                x.shape().DebugString(), ", got ", axis_));
    const int axis = axis_ < 0 ? axis_ + rank : axis_;
    const int64_t size = x.dim_size(axis);
    OP_REQUIRES(ctx, size > 0,
                Invalid("x must not be empty along the axis, got ",
                        x.shape().DebugString()));
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; ++i) outer *= x.dim_size(i);
    for (int i = axis + 1; i < rank; ++i) inner *= x.dim_size(i);
    TensorShape shape = x.shape();
    if (keep_dims_) {
      shape.set_dim(axis, 1);
    } else {
      shape.RemoveDim(axis);
    }
    Tensor* range = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &range));
    auto in = x.shaped<T, 3>({outer, size, inner});
    auto out = range->shaped<T, 2>({outer, inner});
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        T low = in(o, 0, i), high = low;
        for (int64_t k = 1; k < size; ++k) {
          const T v = in(o, k, i);
          if (v < low || v != v) low = v;
          if (v > high || v != v) high = v;
        }
        out(o, i) = high - low;
      }
    }
  }

 private:
  int64_t axis_;
  bool keep_dims_;
};

#define REGISTER(T)                                                   \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("UaPeakToPeak").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      PeakToPeakOp<T>)
REGISTER(Eigen::half);
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
