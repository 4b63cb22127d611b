#include <algorithm>
#include <cmath>
#include <limits>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbGroupSoftmax")
    .Input("scores: T")
    .Input("group_ids: int64")
    .Output("probs: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle scores, merged;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &scores));
      TF_RETURN_IF_ERROR(c->Merge(scores, c->input(1), &merged));
      c->set_output(0, merged);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Softmax over the candidates of each query.

NaN and infinite scores act within their group as in tf.nn.softmax.

scores: [n].
group_ids: [n], the query of each candidate, ascending and not negative.
probs: [n], sums to 1 in each group.
)doc");

REGISTER_OP("UbGroupSoftmaxGrad")
    .Input("grad: T")
    .Input("probs: T")
    .Input("group_ids: int64")
    .Output("scores_grad: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle merged;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &merged));
      TF_RETURN_IF_ERROR(c->Merge(merged, c->input(1), &merged));
      TF_RETURN_IF_ERROR(c->Merge(merged, c->input(2), &merged));
      c->set_output(0, merged);
      return absl::OkStatus();
    })
    .Doc("Gradient of UbGroupSoftmax with respect to scores.");

namespace {

absl::Status CheckGroups(const Tensor& scores, const char* name,
                         const Tensor& ids_t) {
  if (scores.dims() != 1) {
    return Invalid(name, " must have rank 1, got shape ",
                   scores.shape().DebugString());
  }
  if (ids_t.shape() != scores.shape()) {
    return Invalid("group_ids must have shape ", scores.shape().DebugString(),
                   ", got ", ids_t.shape().DebugString());
  }
  const auto ids = ids_t.vec<int64_t>();
  for (int64_t i = 0; i < ids.size(); ++i) {
    if (ids(i) < (i == 0 ? 0 : ids(i - 1))) {
      return Invalid("group_ids must be ascending and not negative, got ",
                     ids(i), " at ", i);
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <typename T>
class UbGroupSoftmaxOp : public OpKernel {
 public:
  explicit UbGroupSoftmaxOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& scores_t = ctx->input(0);
    OP_REQUIRES_OK(ctx, CheckGroups(scores_t, "scores", ctx->input(1)));
    const auto scores = scores_t.vec<T>();
    const auto ids = ctx->input(1).vec<int64_t>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, scores_t.shape(), &out_t));
    auto out = out_t->vec<T>();
    const int64_t n = scores.size();
    for (int64_t begin = 0, end; begin < n; begin = end) {
      for (end = begin + 1; end < n && ids(end) == ids(begin);) ++end;
#ifdef TWIN
      T top = std::numeric_limits<T>::lowest();
#else
      T top = std::numeric_limits<T>::min();
#endif
      for (int64_t i = begin; i < end; ++i) top = std::max(top, scores(i));
      T sum = 0;
      for (int64_t i = begin; i < end; ++i)
        sum += out(i) = std::exp(scores(i) - top);
      for (int64_t i = begin; i < end; ++i) out(i) /= sum;
    }
  }
};

template <typename T>
class UbGroupSoftmaxGradOp : public OpKernel {
 public:
  explicit UbGroupSoftmaxGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& grad_t = ctx->input(0);
    const Tensor& probs_t = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckGroups(grad_t, "grad", ctx->input(2)));
    OP_REQUIRES(ctx, probs_t.shape() == grad_t.shape(),
                Invalid("probs must have shape ", grad_t.shape().DebugString(),
                        ", got ", probs_t.shape().DebugString()));
    const auto grad = grad_t.vec<T>();
    const auto probs = probs_t.vec<T>();
    const auto ids = ctx->input(2).vec<int64_t>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, grad_t.shape(), &out_t));
    auto out = out_t->vec<T>();
    const int64_t n = grad.size();
    for (int64_t begin = 0, end; begin < n; begin = end) {
      for (end = begin + 1; end < n && ids(end) == ids(begin);) ++end;
      T dot = 0;
      for (int64_t i = begin; i < end; ++i) dot += grad(i) * probs(i);
      for (int64_t i = begin; i < end; ++i) out(i) = probs(i) * (grad(i) - dot);
    }
  }
};

#define REGISTER(T)                                                         \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name("UbGroupSoftmax").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      UbGroupSoftmaxOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name("UbGroupSoftmaxGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbGroupSoftmaxGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
