// Ops whose gradients in C++ cannot be made.

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::FunctionDefHelper;
using tensorflow::shape_inference::UnchangedShape;

// Wrong: the argument is called dy. This ends the process.
absl::Status MistypedDefineGrad(const tensorflow::AttrSlice& /*attrs*/,
                                tensorflow::FunctionDef* function) {
  *function = FunctionDefHelper::Define(
      {"x: float", "dy: float"}, {"dx: float"}, {},
      {{{"dx"}, "Mul", {"x", "dyy"}, {{"T", tensorflow::DT_FLOAT}}}});
  return absl::OkStatus();
}
REGISTER_OP("MistypedDefine")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(UnchangedShape);
REGISTER_OP_GRADIENT("MistypedDefine", MistypedDefineGrad);

// [create] Wrong: no argument is called dyy. Python gets an error.
absl::Status MistypedCreateGrad(const tensorflow::AttrSlice& /*attrs*/,
                                tensorflow::FunctionDef* function) {
  *function = FunctionDefHelper::Create(
      "MistypedCreateGrad", {"x: float", "dy: float"}, {"dx: float"}, {},
      {{{"product"}, "Mul", {"x", "dyy"}, {{"T", tensorflow::DT_FLOAT}}}},
      {{"dx", "product:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP("MistypedCreate")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(UnchangedShape);
REGISTER_OP_GRADIENT("MistypedCreate", MistypedCreateGrad);

// [missing] Wrong: neither REGISTER_OP_GRADIENT nor REGISTER_OP_NO_GRADIENT.
REGISTER_OP("GradientForgotten")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(UnchangedShape);

// The kernel.
class GradientForgottenOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    context->set_output(0, context->input(0));
  }
};

REGISTER_KERNEL_BUILDER(
    Name("GradientForgotten").Device(tensorflow::DEVICE_CPU),
    GradientForgottenOp);

}  // namespace
}  // namespace op_by_op
