// Mistakes that compile, load, and fail when the op is called.

#include <cmath>
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

// [one_type] The interface names twelve types.
REGISTER_OP("FloatCumulativeMax")
    .Attr("T: realnumbertype")
    .Input("values: T")
    .Output("largest: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// Its loop is that of CumulativeMax, with float in the place of T.
class FloatCumulativeMaxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& values = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));

    const auto in = values.flat_inner_dims<float>();
    auto out = output->flat_inner_dims<float>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      for (int64_t i = 0; i < in.dimension(1); ++i) {
        const bool larger =
            i == 0 || out(row, i - 1) < in(row, i) || std::isnan(in(row, i));
        out(row, i) = larger ? in(row, i) : out(row, i - 1);
      }
    }
  }
};

// [one_kernel] For the other eleven types, no class is registered.
REGISTER_KERNEL_BUILDER(Name("FloatCumulativeMax")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        FloatCumulativeMaxOp);

// Wrong: the attr is T, not dtype.
REGISTER_KERNEL_BUILDER(Name("TypesMisnamed")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("dtype"),
                        SameOp);

// Wrong: TF_CALL_INTEGRAL_TYPES has int32 already.
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
