// The versions of MaskedMean before it was right, each an op of its own.

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace op_by_op {
namespace {

// The draft.
template <typename T>
class MaskedMeanDraftOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto values = context->input(0).matrix<T>();
    const auto mask = context->input(1).matrix<bool>();
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(
        context,
        context->allocate_output(
            0, tensorflow::TensorShape({values.dimension(0)}), &output));
    auto means = output->vec<T>();
    means.setZero();
    if (values.size() == 0) return;  // nothing to divide by
    for (int64_t row = 0; row < values.dimension(0); ++row) {
      T sum = 0;
      T count = 0;
      for (int64_t column = 0; column < values.dimension(1); ++column) {
        const T kept = mask(row, column) ? 1 : 0;
        sum += values(row, column) * kept;
        count += kept;
      }
      means(row) = sum / count;
    }
  }
};

// Repaired.
template <typename T>
class MaskedMeanRepairedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::TensorShape& shape = context->input(0).shape();
    OP_REQUIRES(context,
                shape.dims() == 2 && shape == context->input(1).shape(),
                absl::InvalidArgumentError(
                    "values and mask must be matrices of one shape"));
    const auto values = context->input(0).matrix<T>();
    const auto mask = context->input(1).matrix<bool>();
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(
        context,
        context->allocate_output(
            0, tensorflow::TensorShape({values.dimension(0)}), &output));
    auto means = output->vec<T>();
    means.setZero();
    if (values.size() == 0) return;  // nothing to divide by
    for (int64_t row = 0; row < values.dimension(0); ++row) {
      T sum = 0;
      T count = 0;
      for (int64_t column = 0; column < values.dimension(1); ++column) {
        if (!mask(row, column)) continue;
        sum += values(row, column);
        count += 1;
      }
      means(row) = sum / count;
    }
  }
};

// Each version of the op, and its kernel.
#define OP_BY_OP_REGISTER(name, Kernel, T)                              \
  REGISTER_KERNEL_BUILDER(                                              \
      Name(name).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      Kernel<T>)
OP_BY_OP_REGISTER("MaskedMeanDraft", MaskedMeanDraftOp, float);
OP_BY_OP_REGISTER("MaskedMeanDraft", MaskedMeanDraftOp, double);
OP_BY_OP_REGISTER("MaskedMeanRepaired", MaskedMeanRepairedOp, float);
OP_BY_OP_REGISTER("MaskedMeanRepaired", MaskedMeanRepairedOp, double);
#undef OP_BY_OP_REGISTER

// The draft.
REGISTER_OP("MaskedMeanDraft")
    .Attr("T: {float, double}")
    .Input("values: T")
    .Input("mask: bool")
    .Output("means: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0,
                          context->Vector(context->Dim(context->input(0), 0)));
      return absl::OkStatus();
    });

// [shape] Repaired: two matrices of one shape.
REGISTER_OP("MaskedMeanRepaired")
    .Attr("T: {float, double}")
    .Input("values: T")
    .Input("mask: bool")
    .Output("means: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle values;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &values));
      TF_RETURN_IF_ERROR(context->Merge(values, context->input(1), &values));
      context->set_output(0, context->Vector(context->Dim(values, 0)));
      return absl::OkStatus();
    });

}  // namespace
}  // namespace op_by_op
