// CumulativeMax, the solution of the exercise: the largest element so far,
// along the last axis.

#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

// [interface] Integers of 8 to 64 bits and floats of 16 to 64.
REGISTER_OP("CumulativeMax")
    .Attr("T: realnumbertype")
    .Input("values: T")
    .Output("largest: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    // For help().
    .Doc(R"doc(
Replaces each element by the largest up to it along the last axis.

A NaN makes all that follow it NaN.

values: A tensor of any shape.
largest: A tensor of the same shape.
)doc");

// [kernel] One class template for all types.
template <typename T>
class CumulativeMaxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& values = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));

    const tsl::port::ScopedDontFlushDenormal keep;  // subnormals are not 0
    const auto in = values.flat_inner_dims<T>();
    auto out = output->flat_inner_dims<T>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      for (int64_t i = 0; i < in.dimension(1); ++i) {
        const bool larger = i == 0 || out(row, i - 1) < in(row, i) ||
                            Eigen::numext::isnan(in(row, i));
        out(row, i) = larger ? in(row, i) : out(row, i - 1);
      }
    }
  }
};

// [register] A line for each of the twelve types of realnumbertype.
#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("CumulativeMax")               \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          CumulativeMaxOp<T>);
TF_CALL_REAL_NUMBER_TYPES(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
