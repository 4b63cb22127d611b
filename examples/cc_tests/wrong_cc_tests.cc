// Softshrink with mistakes, each of which one of the tests finds.

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("OpByOp>Softshrink")
    .Attr("bound: float = 0.5")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class WrongSoftshrinkOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    const auto x = context->input(0).flat<double>();
    auto y = output->flat<double>();
    for (int64_t i = 0; i < x.size(); ++i) {
      y(i) = x(i) > 0.5 ? x(i) : x(i) < -0.5 ? x(i) + 0.5 : 0;
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("OpByOp>Softshrink")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        WrongSoftshrinkOp);

absl::Status WrongSoftshrinkGrad(const tensorflow::AttrSlice& /*attrs*/,
                                 tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "SoftshrinkGrad", {"x: T", "dy: T"}, {"dx: T"},
      {"T: {float, double}", "bound: float"},
      {{{"copy"}, "Identity", {"dy"}, {{"T", "$T"}}}},
      {{"dx", "copy:output:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>Softshrink", WrongSoftshrinkGrad);

}  // namespace
}  // namespace op_by_op
