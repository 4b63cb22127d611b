// ZeroOut for float32 by stable_op.h.

#include <algorithm>

#include "stable_op.h"

namespace {

struct ZeroOut {
  explicit ZeroOut(const stable::Attrs&) {}

  void Compute(const stable::Context& context) const {
    const auto input = context.input("to_zero");
    const auto output = context.output(0, input.shape());
    const auto in = input.flat<float>();
    const auto out = output.flat<float>();
    std::fill(out.begin(), out.end(), 0);
    if (in.size > 0) out[0] = in[0];
  }
};

const stable::Registration registration([] {
  stable::Op("ZeroOutByLayer")
      .Input("to_zero: float")
      .Output("zeroed: float")
      .ShapeFn([](stable::Shapes shapes) { shapes.output(0, shapes.input(0)); })
      .Register();
  stable::Kernel<ZeroOut>("ZeroOutByLayer").Register();
});

}  // namespace
