// Version 2 of a library of ops on audio signals: each op of version 1, changed
// in one way.

#include <cmath>
#include <string>

#include "backward_compatibility.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;

// [attr] `factor` times the signal.
REGISTER_OP("Amplify")
    .Attr("factor: float = 2.0")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [required] Wrong: graphs of version 1 say nothing of a divisor.
REGISTER_OP("Attenuate")
    .Attr("divisor: float")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [polymorphic] Without a default, T is float.
REGISTER_OP("Rectify")
    .Attr("T: {float, double} = DT_FLOAT")
    .Input("signal: T")
    .Output("result: T")
    .SetShapeFn(ShapeOfAllInputs);

// [default] Wrong: graphs that rely on the default change their result.
REGISTER_OP("Limit")
    .Attr("limit: float = 0.5")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [removed] Wrong: what graphs of version 1 say of the threshold is ignored.
REGISTER_OP("Gate")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [constraint] One more value is allowed.
REGISTER_OP("Snap")
    .Attr("rounding: {'down', 'up', 'nearest'}")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs)
    .Doc("rounding: Down, up, or to the nearest whole number, ties to even.");

// [list] The square of the sum of N signals.
REGISTER_OP("Power")
    .Attr("N: int >= 1 = 1")
    .Input("signals: N * float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [optional] The opposite of a sum.
REGISTER_OP("FlipPhase")
    .Attr("N: int >= 0 = 0")
    .Input("signal: float")
    .Input("others: N * float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [package] The first is as in version 1. The second is wrong: TensorFlow has
// an op of this name.
REGISTER_OP("OpByOp>Softsign")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

REGISTER_OP("Softsign")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [mixed] Wrong: a list of one type cannot become a list of many.
REGISTER_OP("Mix")
    .Attr("T: list({float, double}) >= 1")
    .Input("signals: T")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [deprecated] Graphs made since version 1700 of the format may not use it.
REGISTER_OP("Halve")
    .Deprecated(1700, "Use Amplify with factor = 0.5")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [compute] What Amplify, Attenuate, Snap and Gate apply to each element.
struct Times {
  explicit Times(OpKernelConstruction* construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("factor", &factor));
  }
  float operator()(float x) const { return factor * x; }
  float factor = 0;
};

struct Divide {
  explicit Divide(OpKernelConstruction* construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("divisor", &divisor));
  }
  float operator()(float x) const { return x / divisor; }
  float divisor = 1;
};

struct Round {
  explicit Round(OpKernelConstruction* construction) {
    std::string rounding;
    OP_REQUIRES_OK(construction, construction->GetAttr("rounding", &rounding));
    up = rounding == "up";
    nearest = rounding == "nearest";
  }
  float operator()(float x) const {
    if (nearest) return std::nearbyint(x);
    return up ? std::ceil(x) : std::floor(x);
  }
  bool up = false, nearest = false;
};

struct Strong {
  explicit Strong(OpKernelConstruction*) {}
  float operator()(float x) const { return std::abs(x) < 0.5f ? 0 : x; }
};

// [kernel] The sum of signals of different types.
class MixOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    OP_REQUIRES_OK(context, InputsHaveOneShape(*context));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    auto result = output->flat<float>();
    result.setZero();
    for (int i = 0; i < context->num_inputs(); ++i) {
      const tensorflow::Tensor& input = context->input(i);
      if (input.dtype() == tensorflow::DT_FLOAT) {
        result += input.flat<float>();
      } else {
        result += input.flat<double>().cast<float>();
      }
    }
  }
};

// [register] Rectify has a kernel for each type now.
#define REGISTER(op, Function)                                     \
  REGISTER_KERNEL_BUILDER(Name(op).Device(tensorflow::DEVICE_CPU), \
                          SumThenOp<float, Function>)
REGISTER("Amplify", Times);
REGISTER("Attenuate", Divide);
REGISTER("Snap", Round);
REGISTER("Power", Square);
REGISTER("FlipPhase", Negate);
REGISTER("OpByOp>Softsign", Softsign);
REGISTER("Limit", AtMost);
REGISTER("Gate", Strong);
REGISTER("Halve", Half);
REGISTER_KERNEL_BUILDER(Name("Mix").Device(tensorflow::DEVICE_CPU), MixOp);
#undef REGISTER

#define REGISTER_RECTIFY(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("Rectify").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      SumThenOp<T, Positive<T>>)
REGISTER_RECTIFY(float);
REGISTER_RECTIFY(double);
#undef REGISTER_RECTIFY

}  // namespace
}  // namespace op_by_op
