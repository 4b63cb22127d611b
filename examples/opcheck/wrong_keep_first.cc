// The versions of KeepFirst before it was right, each an op of its own.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

// The first draft.
template <typename T>
class KeepFirstDraftOp : public tensorflow::OpKernel {
 public:
  explicit KeepFirstDraftOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("count", &count_));
    OP_REQUIRES(context, count_ >= 0,
                absl::InvalidArgumentError("must not be negative"));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    values_ = input.flat<T>().data();
    auto kept = output->flat<T>();
    kept.setZero();
    kept(0) = values_[0];
    for (int64_t i = 1; i < count_; ++i) kept(i) = values_[i];
  }

 private:
  int64_t count_;
  const T* values_;
};

// What a call works on is local to it, and never more elements than
// there are.
template <typename T>
class KeepFirstRepairedOp : public tensorflow::OpKernel {
 public:
  explicit KeepFirstRepairedOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("count", &count_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto values = input.flat<T>();
    auto kept = output->flat<T>();
    if (kept.size() == 0) return;
    kept.setZero();
    kept(0) = values(0);
    const int64_t count = std::min<int64_t>(count_, kept.size());
    for (int64_t i = 1; i < count; ++i) kept(i) = values(i);
  }

 private:
  int64_t count_;
};

// Each version of the op, and the kernel that it uses.
#define OP_BY_OP_REGISTER_ONE(name, Kernel, T)                          \
  REGISTER_KERNEL_BUILDER(                                              \
      Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      Kernel<T>)
#define OP_BY_OP_REGISTER(T)                                     \
  OP_BY_OP_REGISTER_ONE("KeepFirstDraft", KeepFirstDraftOp, T);  \
  OP_BY_OP_REGISTER_ONE("KeepFirstShaped", KeepFirstDraftOp, T); \
  OP_BY_OP_REGISTER_ONE("KeepFirstRepaired", KeepFirstRepairedOp, T)
OP_BY_OP_REGISTER(float);
OP_BY_OP_REGISTER(double);
OP_BY_OP_REGISTER(int32_t);
#undef OP_BY_OP_REGISTER
#undef OP_BY_OP_REGISTER_ONE

// [interface] The first draft.
REGISTER_OP("KeepFirstDraft")
    .Attr("T: {float, double, int32}")
    .Attr("count: int = 1")
    .Input("values: T")
    .Output("kept: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(
          0, context->Vector(context->NumElements(context->input(0))));
      return absl::OkStatus();
    });

// Repaired: the output has the shape of the input.
REGISTER_OP("KeepFirstShaped")
    .Attr("T: {float, double, int32}")
    .Attr("count: int = 1")
    .Input("values: T")
    .Output("kept: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [attr] Repaired: a minimum, and a Doc.
REGISTER_OP("KeepFirstRepaired")
    .Attr("T: {float, double, int32}")
    .Attr("count: int >= 0 = 1")
    .Input("values: T")
    .Output("kept: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Keeps the first elements of a tensor and sets all others to zero.

values: A tensor of any shape.
kept: A tensor of the same shape.
count: How many elements to keep, in row-major order; all if there are fewer.
)doc");

}  // namespace
}  // namespace op_by_op
