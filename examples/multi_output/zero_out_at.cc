// ZeroOutAt: keep one element of a tensor, and say where it is.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] Two outputs of different types: two calls of Output.
REGISTER_OP("ZeroOutAt")
    .Attr("T: {float, double, int32}")
    .Attr("index: int >= 0 = 0")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .Output("indices: int64")
    // [shape] One shape for each output.
    .SetShapeFn([](InferenceContext* context) {
      const ShapeHandle input = context->input(0);
      int64_t index;
      TF_RETURN_IF_ERROR(context->GetAttr("index", &index));
      const auto elements = context->NumElements(input);
      if (context->ValueKnown(elements) && index >= context->Value(elements)) {
        return absl::InvalidArgumentError(
            absl::StrCat("index must be less than the number of elements of "
                         "to_zero, ",
                         context->Value(elements), ", got ", index));
      }
      context->set_output(0, input);
      context->set_output(1, context->RankKnown(input)
                                 ? context->Vector(context->Rank(input))
                                 : context->Vector(context->UnknownDim()));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Keeps one element of a tensor and sets all others to zero.

index: Which element, counted in row-major order.
to_zero: A tensor of any shape.
zeroed: A tensor of the same shape.
indices: Where the element is, one index for each dimension of to_zero.
)doc");

// [kernel] The outputs are numbered in the order of the interface.
template <typename T>
class ZeroOutAtOp : public tensorflow::OpKernel {
 public:
  explicit ZeroOutAtOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("index", &index_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    OP_REQUIRES(context, index_ < input.NumElements(),
                absl::InvalidArgumentError(absl::StrCat(
                    "index must be less than the number of elements of "
                    "to_zero, ",
                    input.NumElements(), ", got ", index_)));
    tensorflow::Tensor* zeroed = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &zeroed));
    tensorflow::Tensor* indices = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, {input.dims()}, &indices));

    auto out = zeroed->flat<T>();
    std::fill_n(out.data(), out.size(), T{0});
    out(index_) = input.flat<T>()(index_);

    auto position = indices->vec<int64_t>();
    int64_t remaining = index_;
    for (int d = input.dims() - 1; d >= 0; --d) {
      position(d) = remaining % input.dim_size(d);
      remaining /= input.dim_size(d);
    }
  }

 private:
  int64_t index_;
};

// [register] One kernel for each type, as ever.
#define REGISTER_ZERO_OUT_AT(T)                                                \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("ZeroOutAt").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      ZeroOutAtOp<T>)
REGISTER_ZERO_OUT_AT(float);
REGISTER_ZERO_OUT_AT(double);
REGISTER_ZERO_OUT_AT(int32_t);

}  // namespace
}  // namespace op_by_op
