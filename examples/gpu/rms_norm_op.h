// The classes with Compute, for both devices: a Device has Norm and Grad.

#ifndef OP_BY_OP_EXAMPLES_GPU_RMS_NORM_OP_H_
#define OP_BY_OP_EXAMPLES_GPU_RMS_NORM_OP_H_

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {

// Context: an InferenceContext or an OpKernelConstruction.
template <typename Context>
absl::Status GetEpsilon(Context* context, float* epsilon) {
  TF_RETURN_IF_ERROR(context->GetAttr("epsilon", epsilon));
  if (std::isfinite(*epsilon) && *epsilon >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("epsilon must be finite and at least 0, got ", *epsilon));
}

// Reads shapes and the attr, allocates, and calls the device's Norm.
template <typename Device>
class RmsNormOp : public tensorflow::OpKernel {
 public:
  explicit RmsNormOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, GetEpsilon(context, &epsilon_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() > 0,
                absl::InvalidArgumentError("x must have rank 1 or more"));
    tensorflow::Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto rows = x.flat_inner_dims<float>();
    OP_REQUIRES_OK(context, Device::Norm(context, rows.data(),
                                         rows.dimension(0), rows.dimension(1),
                                         epsilon_, y->flat<float>().data()));
  }

 private:
  float epsilon_;
};

// The gradient's class: the same with two inputs.
template <typename Device>
class RmsNormGradOp : public tensorflow::OpKernel {
 public:
  explicit RmsNormGradOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, GetEpsilon(context, &epsilon_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor &x = context->input(0), &grad = context->input(1);
    OP_REQUIRES(context, x.dims() > 0,
                absl::InvalidArgumentError("x must have rank 1 or more"));
    OP_REQUIRES(context, grad.shape() == x.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "grad must have the shape of x, ", x.shape().DebugString(),
                    ", not ", grad.shape().DebugString())));
    tensorflow::Tensor* result = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &result));
    const auto rows = x.flat_inner_dims<float>();
    OP_REQUIRES_OK(context,
                   Device::Grad(context, rows.data(), grad.flat<float>().data(),
                                rows.dimension(0), rows.dimension(1), epsilon_,
                                result->flat<float>().data()));
  }

 private:
  float epsilon_;
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_GPU_RMS_NORM_OP_H_
