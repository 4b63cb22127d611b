// PreserveIndex: keep the element at an index that an attr gives, zero the
// rest.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::InferenceContext;

// [check] The two errors, for the shape function and the kernel alike.
absl::Status NegativeError(int64_t index) {
  return absl::InvalidArgumentError(
      absl::StrCat("index must be at least 0, but is ", index));
}

absl::Status BeyondEndError(int64_t index, int64_t size) {
  return absl::InvalidArgumentError(
      absl::StrCat("index must be less than the size of to_zero, ", size,
                   ", but is ", index));
}

// [interface] TensorFlow finds T from the input; the caller gives index.
REGISTER_OP("PreserveIndex")
    .Attr("T: {float, double, int32}")
    .Attr("index: int = 0")
    .Input("to_zero: T")
    .Output("zeroed: T")
    // [shape] When a graph is traced: the attr is known, the size of the
    // input perhaps.
    .SetShapeFn([](InferenceContext* context) -> absl::Status {
      int64_t index;
      TF_RETURN_IF_ERROR(context->GetAttr("index", &index));
      if (index < 0) return NegativeError(index);
      const auto size = context->NumElements(context->input(0));
      if (context->ValueKnown(size) && index >= context->Value(size)) {
        return BeyondEndError(index, context->Value(size));
      }
      return tensorflow::shape_inference::UnchangedShape(context);
    })
    .Doc(R"doc(
Keeps one element of a tensor and sets all others to zero.

to_zero: A tensor of any shape, with at least one element.
zeroed: A tensor of the same shape.
index: The element to keep, counted from 0 in row-major order.
)doc");

// [kernel] The constructor checks the attr, Compute the attr against the input.
template <typename T>
class PreserveIndexOp : public tensorflow::OpKernel {
 public:
  explicit PreserveIndexOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("index", &index_));
    OP_REQUIRES(context, index_ >= 0, NegativeError(index_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    OP_REQUIRES(context, index_ < input.NumElements(),
                BeyondEndError(index_, input.NumElements()));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto in = input.flat<T>();
    auto out = output->flat<T>();
    std::fill_n(out.data(), out.size(), T{0});
    out(index_) = in(index_);
  }

 private:
  int64_t index_;
};

// [register] Only T chooses the kernel.
REGISTER_KERNEL_BUILDER(Name("PreserveIndex")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        PreserveIndexOp<float>);
REGISTER_KERNEL_BUILDER(Name("PreserveIndex")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        PreserveIndexOp<double>);
REGISTER_KERNEL_BUILDER(Name("PreserveIndex")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<int32_t>("T"),
                        PreserveIndexOp<int32_t>);

}  // namespace
}  // namespace op_by_op
