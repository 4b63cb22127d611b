// ExponentialAverage for XLA: a kernel that adds instructions to a program.

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;
using xla::ScalarLike;
using xla::XlaOp;

// [kernel] A parallel scan: the reach of each value doubles with each round.
class ExponentialAverageXlaOp : public tensorflow::XlaOpKernel {
 public:
  explicit ExponentialAverageXlaOp(OpKernelConstruction* context)
      : XlaOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("decay", &decay_));
    OP_REQUIRES_OK(context, CheckDecay(decay_));
  }

  void Compile(XlaOpKernelContext* context) override {
    OP_REQUIRES_VALUE(const xla::Shape shape, context,
                      context->InputXlaShape(0));
    const int64_t last = shape.dimensions().size() - 1;
    OP_REQUIRES(context, last >= 0,
                absl::InvalidArgumentError(
                    "signal must have at least one dimension, got a scalar"));

    const XlaOp signal = context->Input(0);
    XlaOp average =
        signal * (ScalarLike(signal, 1) - ScalarLike(signal, decay_));
    double weight = decay_;
    for (int64_t step = 1; step < shape.dimensions(last); step *= 2) {
      const XlaOp zero = ScalarLike(signal, 0);
      const XlaOp earlier = xla::PadInDim(average, zero, last, step, -step);
      // Infinity stays infinity, even where the weight has become 0.
      const XlaOp decayed = earlier * ScalarLike(signal, weight);
      average = average + Select(IsFinite(earlier), decayed, earlier);
      weight *= weight;
    }
    context->SetOutput(0, average);
  }

 private:
  float decay_;
};

// [register] For each device and type that XLA compiles for.
REGISTER_XLA_OP(Name("ExponentialAverage"), ExponentialAverageXlaOp);

}  // namespace
}  // namespace op_by_op
