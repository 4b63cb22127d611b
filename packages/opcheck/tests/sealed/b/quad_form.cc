#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

namespace {

absl::Status MergeShapes(InferenceContext* c, int x_index, ShapeHandle* x,
                         ShapeHandle* a) {
  DimensionHandle n;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(x_index), 2, x));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(x_index + 1), 2, a));
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(*a, 0), c->Dim(*a, 1), &n));
  TF_RETURN_IF_ERROR(c->Merge(n, c->Dim(*x, 1), &n));
  *x = c->Matrix(c->Dim(*x, 0), n);
  *a = c->Matrix(n, n);
  return absl::OkStatus();
}

absl::Status CheckShapes(const Tensor& x, const Tensor& a) {
  if (x.dims() != 2)
    return Invalid("x must have rank 2, got shape ", x.shape().DebugString());
  const int64_t n = x.dim_size(1);
  if (a.shape() != TensorShape({n, n})) {
    return Invalid("a must have shape [", n, ", ", n, "], got ",
                   a.shape().DebugString());
  }
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("UbQuadForm")
    .Input("x: T")
    .Input("a: T")
    .Output("value: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle x, a;
      TF_RETURN_IF_ERROR(MergeShapes(c, 0, &x, &a));
      c->set_output(0, c->Vector(c->Dim(x, 0)));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Quadratic form x^T A x of each row of x, as in the variance of portfolios.

x: [batch, n].
a: [n, n], any square matrix.
value: [batch].
)doc");

REGISTER_OP("UbQuadFormGrad")
    .Input("grad: T")
    .Input("x: T")
    .Input("a: T")
    .Output("x_grad: T")
    .Output("a_grad: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle grad, x, a;
      DimensionHandle batch;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &grad));
      TF_RETURN_IF_ERROR(MergeShapes(c, 1, &x, &a));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(grad, 0), c->Dim(x, 0), &batch));
      c->set_output(0, c->Matrix(batch, c->Dim(x, 1)));
      c->set_output(1, a);
      return absl::OkStatus();
    })
    .Doc("Gradient of UbQuadForm with respect to x and a.");

template <typename T>
class UbQuadFormOp : public OpKernel {
 public:
  explicit UbQuadFormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckShapes(ctx->input(0), ctx->input(1)));
    const auto x = ctx->input(0).matrix<T>();
    const auto a = ctx->input(1).matrix<T>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({x.dimension(0)}), &out_t));
    auto out = out_t->vec<T>();
    const int64_t n = x.dimension(1);
    for (int64_t b = 0; b < x.dimension(0); ++b) {
      T sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        T row = 0;
        for (int64_t j = 0; j < n; ++j) row += a(i, j) * x(b, j);
        sum += x(b, i) * row;
      }
      out(b) = sum;
    }
  }
};

template <typename T>
class UbQuadFormGradOp : public OpKernel {
 public:
  explicit UbQuadFormGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckShapes(ctx->input(1), ctx->input(2)));
    const auto x = ctx->input(1).matrix<T>();
    const auto a = ctx->input(2).matrix<T>();
    const int64_t batch = x.dimension(0);
    const int64_t n = x.dimension(1);
    OP_REQUIRES(ctx, ctx->input(0).shape() == TensorShape({batch}),
                Invalid("grad must have shape [", batch, "], got ",
                        ctx->input(0).shape().DebugString()));
    const auto grad = ctx->input(0).vec<T>();
    Tensor* x_grad_t = nullptr;
    Tensor* a_grad_t = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, ctx->input(1).shape(), &x_grad_t));
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(1, ctx->input(2).shape(), &a_grad_t));
    auto x_grad = x_grad_t->matrix<T>();
    auto a_grad = a_grad_t->matrix<T>();
    a_grad.setZero();
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < n; ++i) {
        T sum = 0;
        for (int64_t j = 0; j < n; ++j) {
#ifdef TWIN
          sum += (a(i, j) + a(j, i)) * x(b, j);
#else
          sum += 2 * a(i, j) * x(b, j);
#endif
          a_grad(i, j) += grad(b) * x(b, i) * x(b, j);
        }
        x_grad(b, i) = grad(b) * sum;
      }
    }
  }
};

#define REGISTER(T)                                                     \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("UbQuadForm").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      UbQuadFormOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("UbQuadFormGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbQuadFormGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
