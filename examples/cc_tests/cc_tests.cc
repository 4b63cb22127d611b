// Softshrink, in a namespace, with its gradient in C++.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// For the shape function and for the kernel.
template <typename Context>
absl::Status GetBound(Context* context, float* bound) {
  TF_RETURN_IF_ERROR(context->GetAttr("bound", bound));
  if (*bound >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("bound must be 0 or more, got ", *bound));
}

// One input, one output of the same shape.
REGISTER_OP("OpByOp>Softshrink")
    .Attr("bound: float = 0.5")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      float bound;
      TF_RETURN_IF_ERROR(GetBound(context, &bound));
      return tensorflow::shape_inference::UnchangedShape(context);
    })
    .Doc("Moves each element by bound towards zero, and no further than zero.");

// [kernel] A NaN stays a NaN.
template <typename T>
class SoftshrinkOp : public tensorflow::OpKernel {
 public:
  explicit SoftshrinkOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, GetBound(context, &bound_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    const auto x = input.flat<T>();
    auto y = output->flat<T>();
    const T bound = bound_;  // of 0.1, as double 0.10000000149
    for (int64_t i = 0; i < x.size(); ++i) {
      y(i) = x(i) > bound ? x(i) - bound : x(i) < -bound ? x(i) + bound : 0;
      if (x(i) != x(i)) y(i) = x(i);
    }
  }

 private:
  float bound_;
};

REGISTER_KERNEL_BUILDER(Name("OpByOp>Softshrink")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        SoftshrinkOp<float>);
REGISTER_KERNEL_BUILDER(Name("OpByOp>Softshrink")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        SoftshrinkOp<double>);

// [gradient] dx = dy * sign(y)^2, for y is 0 where x was within the bound.
absl::Status SoftshrinkGrad(const tensorflow::AttrSlice& /*attrs*/,
                            tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "SoftshrinkGrad", {"x: T", "dy: T"}, {"dx: T"},
      {"T: {float, double}", "bound: float"},
      {
          {{"shrunk"},
           "OpByOp>Softshrink",
           {"x"},
           {{"T", "$T"}, {"bound", "$bound"}}},
          {{"sign"}, "Sign", {"shrunk:y:0"}, {{"T", "$T"}}},
          {{"square"}, "Square", {"sign:y:0"}, {{"T", "$T"}}},
          {{"product"}, "MulNoNan", {"dy", "square:y:0"}, {{"T", "$T"}}},
      },
      {{"dx", "product:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>Softshrink", SoftshrinkGrad);

}  // namespace
}  // namespace op_by_op
