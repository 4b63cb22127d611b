// Two mistakes that compile, load, and fail when the op is called.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"

namespace op_by_op {
namespace {

REGISTER_OP("TypesOverlap")
    .Attr("T: realnumbertype")
    .Input("input: T")
    .Output("output: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

REGISTER_OP("TypesMisnamed")
    .Attr("T: realnumbertype")
    .Input("input: T")
    .Output("output: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class SameOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    context->set_output(0, context->input(0));
  }
};

// [misnamed] Wrong: the attr is T, not dtype.
REGISTER_KERNEL_BUILDER(Name("TypesMisnamed")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("dtype"),
                        SameOp);

// [overlap] Wrong: TF_CALL_INTEGRAL_TYPES has int32 already.
#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("TypesOverlap")                \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          SameOp);
TF_CALL_INTEGRAL_TYPES(OP_BY_OP_REGISTER)
TF_CALL_int32(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
