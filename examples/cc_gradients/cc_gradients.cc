// SquaredRelu and RoundToStep, with their gradients in C++.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

absl::Status CheckStep(float step) {
  const tsl::port::ScopedDontFlushDenormal keep;
  if (std::isfinite(step) && step > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("step must be finite and greater than 0, got ", step));
}

REGISTER_OP("RoundToStep")
    .Attr("step: float = 1.0")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("rounded: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      float step;
      TF_RETURN_IF_ERROR(context->GetAttr("step", &step));
      TF_RETURN_IF_ERROR(CheckStep(step));
      return tensorflow::shape_inference::UnchangedShape(context);
    })
    .Doc("Rounds to the nearest multiple of step, halfway cases to even ones.");

template <typename T>
class RoundToStepOp : public tensorflow::OpKernel {
 public:
  explicit RoundToStepOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("step", &step_));
    OP_REQUIRES_OK(context, CheckStep(step_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const tsl::port::ScopedDontFlushDenormal keep;
    const auto x = input.flat<T>();
    auto rounded = output->flat<T>();
    for (int64_t i = 0; i < x.size(); ++i) {
      // std::remainder is exact; the quotient would be rounded, or overflow.
      const T nearest = x(i) - std::remainder(x(i), T{step_});
      rounded(i) = std::isfinite(x(i)) ? std::copysign(nearest, x(i)) : x(i);
    }
  }

 private:
  float step_;
};

REGISTER_KERNEL_BUILDER(Name("RoundToStep")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        RoundToStepOp<float>);
REGISTER_KERNEL_BUILDER(Name("RoundToStep")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        RoundToStepOp<double>);

// [interface] One input, one output of the same shape and type.
REGISTER_OP("SquaredRelu")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Computes the square of max(x, 0) for each element.");

// A NaN stays a NaN.
template <typename T>
class SquaredReluOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto x = input.flat<T>();
    auto y = output->flat<T>();
    for (int64_t i = 0; i < x.size(); ++i) y(i) = x(i) < 0 ? 0 : x(i) * x(i);
  }
};

REGISTER_KERNEL_BUILDER(Name("SquaredRelu")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        SquaredReluOp<float>);
REGISTER_KERNEL_BUILDER(Name("SquaredRelu")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        SquaredReluOp<double>);

// [gradient] dx = 2 * relu(x) * dy, and 0 where relu(x) is 0.
absl::Status SquaredReluGrad(const tensorflow::AttrSlice& /*attrs*/,
                             tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "SquaredReluGrad", /*arguments=*/{"x: T", "dy: T"}, /*results=*/{"dx: T"},
      /*attrs=*/{"T: {float, double}"},
      /*nodes=*/
      {
          {{"relu"}, "Relu", {"x"}, {{"T", "$T"}}},
          {{"once"}, "MulNoNan", {"dy", "relu:activations:0"}, {{"T", "$T"}}},
          {{"twice"}, "AddV2", {"once:z:0", "once:z:0"}, {{"T", "$T"}}},
      },
      /*what each result is=*/{{"dx", "twice:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("SquaredRelu", SquaredReluGrad);

// [flat] The gradient is zero.
REGISTER_OP_NO_GRADIENT("RoundToStep");

}  // namespace
}  // namespace op_by_op
