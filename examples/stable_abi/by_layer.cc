// ZeroOut for float32 by stable_op.h.

#include <algorithm>

#include "stable_op.h"

namespace {

struct ZeroOut {
  explicit ZeroOut(const stable::Attrs&) {}

  void Compute(const stable::Context& context) const {
    const auto in = context.input<float>(0);
    const auto out = context.output<float>(0, in.shape());
    std::fill(out.begin(), out.end(), 0);
    if (in.size > 0) out[0] = in[0];
  }
};

void SameShape(stable::Shapes shapes) { shapes.output(0, shapes.input(0)); }

// The loader calls this when it loads the library.
__attribute__((constructor)) void Register() {
  stable::RegisterOp<SameShape>("ZeroOutByLayer", {"to_zero: float"},
                                {"zeroed: float"});
  stable::RegisterKernel<ZeroOut>("ZeroOutByLayer");
}

}  // namespace
