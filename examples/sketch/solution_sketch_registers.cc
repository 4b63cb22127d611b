// SketchRegisters: the numbers in a sketch, for those who want to draw them.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sketch.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/variant.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::TensorShapeUtils;
using tensorflow::Variant;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] How many registers there are is known to the sketch alone.
REGISTER_OP("SketchRegisters")
    .Input("sketch: variant")
    .Output("registers: uint8")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle sketch;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &sketch));
      context->set_output(0, context->UnknownShapeOfRank(1));
      return absl::OkStatus();
    });

// [kernel] The output is the tensor that the sketch holds; nothing is copied.
class SketchRegistersOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    OP_REQUIRES(context, TensorShapeUtils::IsScalar(input.shape()),
                absl::InvalidArgumentError(
                    absl::StrCat("sketch must be a scalar, got shape ",
                                 input.shape().DebugString())));
    const Variant& variant = input.scalar<Variant>()();
    const Sketch* sketch = variant.get<Sketch>();
    OP_REQUIRES(context, sketch != nullptr,
                absl::InvalidArgumentError(absl::StrCat(
                    "sketch must hold what SketchHashes makes, got ",
                    variant.DebugString())));
    context->set_output(0, sketch->registers);
  }
};

REGISTER_KERNEL_BUILDER(Name("SketchRegisters").Device(tensorflow::DEVICE_CPU),
                        SketchRegistersOp);

}  // namespace
}  // namespace op_by_op
