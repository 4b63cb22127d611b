// Mistakes that compile, load, and fail when the op is called.

#include <cstdint>

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

// [one_type] The interface names four types.
REGISTER_OP("FloatRunningSum")
    .Attr("T: {half, bfloat16, float, double}")
    .Input("values: T")
    .Output("sums: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [one_kernel] The kernel computes with one of them.
class FloatRunningSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& values = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));

    const auto in = values.flat_inner_dims<float>();  // [rows, length]
    auto out = output->flat_inner_dims<float>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      float sum = 0;
      for (int64_t i = 0; i < in.dimension(1); ++i) {
        sum += in(row, i);
        out(row, i) = sum;
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("FloatRunningSum")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        FloatRunningSumOp);

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
