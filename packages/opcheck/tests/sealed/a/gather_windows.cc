// Gathers windows of consecutive rows, and the gradient.
#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status WindowShape(InferenceContext* c, ShapeHandle params,
                         ShapeHandle starts, ShapeHandle* out) {
  ShapeHandle rows;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(params, 1, &params));
  TF_RETURN_IF_ERROR(c->WithRank(starts, 1, &starts));
  int64_t width;
  TF_RETURN_IF_ERROR(c->GetAttr("width", &width));
  TF_RETURN_IF_ERROR(c->Subshape(params, 1, &rows));
  return c->Concatenate(c->Matrix(c->Dim(starts, 0), width), rows, out);
}

REGISTER_OP("UaGatherWindows")
    .Input("params: T")
    .Input("starts: Tidx")
    .Output("windows: T")
    .Attr("width: int >= 1")
    .Attr("T: {float, double}")
    .Attr("Tidx: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle out;
      TF_RETURN_IF_ERROR(WindowShape(c, c->input(0), c->input(1), &out));
      c->set_output(0, out);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Gathers windows of consecutive rows: windows[i, j] = params[starts[i] + j].

params: [n, ...].
starts: Vector [k], the first row of each window, in [0, n - width].
windows: [k, width, ...].
width: Rows of a window.
)doc");

REGISTER_OP("UaGatherWindowsGrad")
    .Input("dwindows: T")
    .Input("params: T")
    .Input("starts: Tidx")
    .Output("dparams: T")
    .Attr("width: int >= 1")
    .Attr("T: {float, double}")
    .Attr("Tidx: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle windows;
      TF_RETURN_IF_ERROR(WindowShape(c, c->input(1), c->input(2), &windows));
      TF_RETURN_IF_ERROR(c->Merge(windows, c->input(0), &windows));
      c->set_output(0, c->input(1));
      return absl::OkStatus();
    })
    .Doc("Gradient of UaGatherWindows.");

// Checks params and starts and computes the shape of the windows.
template <typename Tidx>
absl::Status CheckWindows(const Tensor& params, const Tensor& starts,
                          int64_t width, TensorShape* windows) {
  if (params.dims() < 1)
    return Invalid("params must be at least one-dimensional");
  if (starts.dims() != 1) {
    return Invalid("starts must be a vector, got shape ",
                   starts.shape().DebugString());
  }
  auto start = starts.vec<Tidx>();
  const int64_t last = params.dim_size(0) - width;
  for (int64_t i = 0; i < start.size(); ++i) {
    if (start(i) < 0 || start(i) > last) {
      return Invalid("starts must be in [0, ", last, "], got ", start(i));
    }
  }
  *windows = params.shape();
  TF_RETURN_IF_ERROR(windows->SetDimWithStatus(0, width));
  return windows->InsertDimWithStatus(0, start.size());
}

template <typename T, typename Tidx>
class GatherWindowsOp : public OpKernel {
 public:
  explicit GatherWindowsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("width", &width_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& params = ctx->input(0);
    const Tensor& starts = ctx->input(1);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, CheckWindows<Tidx>(params, starts, width_, &shape));
    Tensor* windows = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &windows));
    if (shape.num_elements() == 0) return;
    const int64_t row = params.NumElements() / params.dim_size(0);
    const T* in = params.flat<T>().data();
    T* out = windows->flat<T>().data();
    auto start = starts.vec<Tidx>();
    for (int64_t i = 0; i < start.size(); ++i) {
      out = std::copy_n(in + start(i) * row, width_ * row, out);
    }
  }

 private:
  int64_t width_;
};

template <typename T, typename Tidx>
class GatherWindowsGradOp : public OpKernel {
 public:
  explicit GatherWindowsGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("width", &width_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& dwindows = ctx->input(0);
    const Tensor& params = ctx->input(1);
    const Tensor& starts = ctx->input(2);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, CheckWindows<Tidx>(params, starts, width_, &shape));
    OP_REQUIRES(ctx, dwindows.shape() == shape,
                Invalid("dwindows must have shape ", shape.DebugString(),
                        ", got ", dwindows.shape().DebugString()));
    Tensor* dparams = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, params.shape(), &dparams));
    dparams->flat<T>().setZero();
    if (shape.num_elements() == 0) return;
    const int64_t row = params.NumElements() / params.dim_size(0);
    const T* g = dwindows.flat<T>().data();
    auto start = starts.vec<Tidx>();
    for (int64_t i = 0; i < start.size(); ++i, g += width_ * row) {
      T* out = dparams->flat<T>().data() + start(i) * row;
#ifdef TWIN
      for (int64_t j = 0; j < width_ * row; ++j) out[j] += g[j];
#else
      std::copy_n(g, width_ * row, out);
#endif
    }
  }

 private:
  int64_t width_;
};

#define REGISTER_INDEX(T, Tidx)                              \
  REGISTER_KERNEL_BUILDER(Name("UaGatherWindows")            \
                              .Device(DEVICE_CPU)            \
                              .TypeConstraint<T>("T")        \
                              .TypeConstraint<Tidx>("Tidx"), \
                          GatherWindowsOp<T, Tidx>);         \
  REGISTER_KERNEL_BUILDER(Name("UaGatherWindowsGrad")        \
                              .Device(DEVICE_CPU)            \
                              .TypeConstraint<T>("T")        \
                              .TypeConstraint<Tidx>("Tidx"), \
                          GatherWindowsGradOp<T, Tidx>)
#define REGISTER(T)           \
  REGISTER_INDEX(T, int32_t); \
  REGISTER_INDEX(T, int64_t)
REGISTER(float);
REGISTER(double);
#undef REGISTER
#undef REGISTER_INDEX

}  // namespace
}  // namespace tensorflow
