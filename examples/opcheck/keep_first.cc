// KeepFirst: keep the first elements of a tensor, zero the rest.

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("KeepFirst")
    .Attr("T: {float, double, int32}")
    .Attr("count: int >= 0 = 1")
    .Input("values: T")
    .Output("kept: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Keeps the first elements of a tensor and sets all others to zero.

values: A tensor of any shape.
kept: A tensor of the same shape.
count: How many elements to keep, in row-major order; all if there are fewer.
)doc");

template <typename T>
class KeepFirstOp : public tensorflow::OpKernel {
 public:
  explicit KeepFirstOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("count", &count_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto values = input.flat<T>();
    auto kept = output->flat<T>();
    const int64_t count = std::min<int64_t>(count_, kept.size());
    std::copy_n(values.data(), count, kept.data());
    std::fill_n(kept.data() + count, kept.size() - count, T{0});
  }

 private:
  int64_t count_;
};

REGISTER_KERNEL_BUILDER(
    Name("KeepFirst").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    KeepFirstOp<float>);
REGISTER_KERNEL_BUILDER(Name("KeepFirst")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        KeepFirstOp<double>);
REGISTER_KERNEL_BUILDER(Name("KeepFirst")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<int32_t>("T"),
                        KeepFirstOp<int32_t>);

}  // namespace
}  // namespace op_by_op
