// ShiftRight without its bugs.

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

REGISTER_OP("ShiftRightRepaired")
    .Attr("T: {float, double}")
    .Attr("places: int >= 0")
    .Input("values: T")
    .Output("shifted: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Moves the elements of a tensor towards its end; zeros come in at its start.

places: How far, in row-major order.
)doc");

template <typename T>
class ShiftRightRepairedOp : public tensorflow::OpKernel {
 public:
  explicit ShiftRightRepairedOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("places", &places_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto values = input.flat<T>();
    auto shifted = output->flat<T>();
    const int64_t places = std::min<int64_t>(places_, values.size());
    std::fill_n(shifted.data(), places, T{0});
    std::copy_n(values.data(), values.size() - places, shifted.data() + places);
  }

 private:
  int64_t places_;
};

REGISTER_KERNEL_BUILDER(Name("ShiftRightRepaired")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        ShiftRightRepairedOp<float>);
REGISTER_KERNEL_BUILDER(Name("ShiftRightRepaired")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        ShiftRightRepairedOp<double>);

}  // namespace
}  // namespace op_by_op
