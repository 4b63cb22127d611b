// Version 2: two changes that models of version 1 do not notice.

#include <string>

#include "backward_compatibility.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::UnchangedShape;

// `gain` and `T` are new.
REGISTER_OP("MuLaw")
    .Attr("mode: {'encode', 'decode'}")
    .Attr("mu: float = 255.0")
    .Attr("gain: float = 1.0")
    .Attr("T: {float, double} = DT_FLOAT")
    .Input("signal: T")
    .Output("result: T")
    .SetShapeFn(UnchangedShape)
    .Doc(R"doc(
Compresses the size of each number by a logarithm, or undoes it.

mode: Which of the two.
mu: How much.
gain: What the signal is multiplied by first.
)doc");

// [attrs] It has no code for nodes of version 1, which have no gain.
struct WithAttrs : MuLaw {
  explicit WithAttrs(tensorflow::OpKernelConstruction* context) {
    std::string mode;
    OP_REQUIRES_OK(context, context->GetAttr("mode", &mode));
    OP_REQUIRES_OK(context, context->GetAttr("mu", &mu));
    OP_REQUIRES_OK(context, context->GetAttr("gain", &gain));
    OP_REQUIRES_OK(context, CheckMu(mu));
    decode = mode == "decode";
  }

  template <typename T>
  T operator()(T x) const {
    return MuLaw::operator()(static_cast<T>(gain) * x);
  }

  float gain = 1;
};

#define REGISTER_MU_LAW(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("MuLaw").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      MuLawOp<T, WithAttrs>)
REGISTER_MU_LAW(float);
REGISTER_MU_LAW(double);
#undef REGISTER_MU_LAW

}  // namespace
}  // namespace op_by_op
