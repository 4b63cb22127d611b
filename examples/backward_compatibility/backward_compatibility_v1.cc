// Version 1, released last year.

#include <string>

#include "backward_compatibility.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::UnchangedShape;

// The kernel reads what the interface declares.
struct WithAttrs : MuLaw {
  explicit WithAttrs(tensorflow::OpKernelConstruction* context) {
    std::string mode;
    OP_REQUIRES_OK(context, context->GetAttr("mode", &mode));
    OP_REQUIRES_OK(context, context->GetAttr("mu", &mu));
    OP_REQUIRES_OK(context, CheckMu(mu));
    decode = mode == "decode";
  }
};

REGISTER_KERNEL_BUILDER(Name("MuLaw").Device(tensorflow::DEVICE_CPU),
                        MuLawOp<float, WithAttrs>);

// [interface] One signal in, one signal out.
REGISTER_OP("MuLaw")
    .Attr("mode: {'encode', 'decode'}")
    .Attr("mu: float = 255.0")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(UnchangedShape)
    .Doc(R"doc(
Compresses the size of each number by a logarithm, or undoes it.

mode: Which of the two.
mu: How much.
)doc");

}  // namespace
}  // namespace op_by_op
