// Version 1 of a library of ops on audio signals.

#include <cmath>
#include <string>

#include "backward_compatibility.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;

// [interface] Six ops with one interface: a signal goes in, a signal comes out.

// Twice the signal.
REGISTER_OP("Amplify")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// Half the signal.
REGISTER_OP("Attenuate")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// Zero where the signal is negative.
REGISTER_OP("Rectify")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// The square.
REGISTER_OP("Power")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// The opposite sign.
REGISTER_OP("FlipPhase")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// x / (1 + |x|).
REGISTER_OP("OpByOp>Softsign")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [default] At most `limit`.
REGISTER_OP("Limit")
    .Attr("limit: float = 1.0")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [removed] Zero where the signal is weaker than `threshold`.
REGISTER_OP("Gate")
    .Attr("threshold: float = 0.5")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [constraint] The next whole number.
REGISTER_OP("Snap")
    .Attr("rounding: {'down', 'up'}")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [mixed] The sum of N signals of one type.
REGISTER_OP("Mix")
    .Attr("N: int >= 1")
    .Input("signals: N * float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [deprecated] The end is announced.
REGISTER_OP("Halve")
    .Deprecated(3000, "Use Amplify with factor = 0.5")
    .Input("signal: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [mean] The mean of two signals.
REGISTER_OP("Blend")
    .Input("first: float")
    .Input("second: float")
    .Output("result: float")
    .SetShapeFn(ShapeOfAllInputs);

// [compute] What Amplify, Snap and Gate apply to each element.
struct Double {
  explicit Double(OpKernelConstruction*) {}
  float operator()(float x) const { return 2 * x; }
};

struct Round {
  explicit Round(OpKernelConstruction* construction) {
    std::string rounding;
    OP_REQUIRES_OK(construction, construction->GetAttr("rounding", &rounding));
    up = rounding == "up";
  }
  float operator()(float x) const { return up ? std::ceil(x) : std::floor(x); }
  bool up = false;
};

struct Strong {
  explicit Strong(OpKernelConstruction* construction) {
    OP_REQUIRES_OK(construction,
                   construction->GetAttr("threshold", &threshold));
  }
  float operator()(float x) const { return std::abs(x) < threshold ? 0 : x; }
  float threshold = 0;
};

// [register] All kernels are SumThenOp with another function.
#define REGISTER(op, Function)                                     \
  REGISTER_KERNEL_BUILDER(Name(op).Device(tensorflow::DEVICE_CPU), \
                          SumThenOp<float, Function>)
REGISTER("Amplify", Double);
REGISTER("Attenuate", Half);
REGISTER("Rectify", Positive<float>);
REGISTER("Snap", Round);
REGISTER("Power", Square);
REGISTER("FlipPhase", Negate);
REGISTER("OpByOp>Softsign", Softsign);
REGISTER("Limit", AtMost);
REGISTER("Gate", Strong);
REGISTER("Halve", Half);
REGISTER("Mix", Keep);
REGISTER("Blend", Half);
#undef REGISTER

}  // namespace
}  // namespace op_by_op
