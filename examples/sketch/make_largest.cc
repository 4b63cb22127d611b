// The smallest class in a tensor: a number, of which AddN keeps the largest.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/framework/variant_op_registry.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::Variant;

// [largest] What a tensor may hold: copied, named, and saved as its bytes.
struct Largest {
  int64_t value;

  std::string TypeName() const { return "op_by_op::Largest"; }
  std::string DebugString() const { return absl::StrCat("largest ", value); }
};

// [wrap] From a number to an object in a tensor, and back.
REGISTER_OP("MakeLargest")
    .Input("value: int64")
    .Output("largest: variant")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

REGISTER_OP("LargestValue")
    .Input("largest: variant")
    .Output("value: int64")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class MakeLargestOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* made = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, values.shape(), &made));
    for (int64_t i = 0; i < values.NumElements(); ++i) {
      made->flat<Variant>()(i) = Largest{values.flat<int64_t>()(i)};
    }
  }
};

class LargestValueOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& made = context->input(0);
    Tensor* values = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, made.shape(), &values));
    for (int64_t i = 0; i < made.NumElements(); ++i) {
      const Variant& variant = made.flat<Variant>()(i);
      const Largest* largest = variant.get<Largest>();
      OP_REQUIRES(context, largest != nullptr,
                  absl::InvalidArgumentError(absl::StrCat(
                      "largest must hold what MakeLargest makes, got ",
                      variant.DebugString())));
      values->flat<int64_t>()(i) = largest->value;
    }
  }
};

// [add] What TensorFlow's AddN does with two of them.
absl::Status Add(OpKernelContext* /*context*/, const Largest& a,
                 const Largest& b, Largest* sum) {
  sum->value = std::max(a.value, b.value);
  return absl::OkStatus();
}

using tensorflow::TypeIndex;  // for the macros
REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tensorflow::ADD_VARIANT_BINARY_OP,
                                          tensorflow::DEVICE_CPU, Largest, Add);
REGISTER_UNARY_VARIANT_DECODE_FUNCTION(Largest, "op_by_op::Largest");
REGISTER_KERNEL_BUILDER(Name("MakeLargest").Device(tensorflow::DEVICE_CPU),
                        MakeLargestOp);
REGISTER_KERNEL_BUILDER(Name("LargestValue").Device(tensorflow::DEVICE_CPU),
                        LargestValueOp);

}  // namespace
}  // namespace op_by_op
