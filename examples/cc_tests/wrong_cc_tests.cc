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

// [kernel] Four mistakes: no check of the bound, and these three.
class WrongSoftshrinkOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    x_ = context->input(0);  // a member, which all calls share
    tensorflow::Tensor* output = nullptr;
    if (!context->allocate_output(0, x_.shape(), &output).ok()) {
      // Memory from elsewhere, behind TensorFlow's back.
      context->set_output(0, tensorflow::Tensor(x_.dtype(), x_.shape()));
      output = context->mutable_output(0);
    }
    const auto x = x_.flat<double>();
    auto y = output->flat<double>();
    for (int64_t i = 0; i < x.size(); ++i) {
      y(i) = x(i) > 0.5 ? x(i) - 0.5 : 0;  // below -0.5, too
    }
  }

 private:
  tensorflow::Tensor x_;
};
REGISTER_KERNEL_BUILDER(Name("OpByOp>Softshrink")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        WrongSoftshrinkOp);

// [gradient] It forgets the bound.
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
