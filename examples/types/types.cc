// RunningSum: the sum so far, along the last axis.

#include <cstdint>
#include <type_traits>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"

namespace op_by_op {
namespace {

// T is an attr whose value is a type.
REGISTER_OP("RunningSum")
    .Attr("T: {half, bfloat16, float, double}")
    .Input("values: T")
    .Output("sums: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    // For help().
    .Doc(R"doc(
Adds up the elements along the last axis, and returns the sum so far.

values: A tensor of any shape.
sums: A tensor of the same shape.
)doc");

// [accumulator] The type to add in: double for double, float for all others.
template <typename T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, double>, double, float>;

// [kernel] The compiler makes a class for each type that is registered.
template <typename T>
class RunningSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& values = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));

    const auto in = values.flat_inner_dims<T>();  // [rows, length]
    auto out = output->flat_inner_dims<T>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      Accumulator<T> sum = 0;
      for (int64_t i = 0; i < in.dimension(1); ++i) {
        sum += static_cast<Accumulator<T>>(in(row, i));
        out(row, i) = static_cast<T>(sum);
      }
    }
  }
};

// [register] TensorFlow's macro calls ours for each of its types.
#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("RunningSum")                  \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          RunningSumOp<T>);
TF_CALL_FLOAT_TYPES(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
