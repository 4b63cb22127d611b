// MuLaw, as each version of the library computes it.

#ifndef OP_BY_OP_EXAMPLES_BACKWARD_COMPATIBILITY_BACKWARD_COMPATIBILITY_H_
#define OP_BY_OP_EXAMPLES_BACKWARD_COMPATIBILITY_BACKWARD_COMPATIBILITY_H_

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {

// The interface of an op has no minimum for a float.
inline absl::Status CheckMu(float mu) {
  if (mu > 0 && std::isfinite(mu)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("mu must be positive and finite, got ", mu));
}

// Applies a formula to each number. Each version has its own formula,
// which reads its attrs when the kernel is made.
template <typename T, typename Formula>
class MuLawOp : public tensorflow::OpKernel {
 public:
  explicit MuLawOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context), formula_(context) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& signal = context->input(0);
    tensorflow::Tensor* result = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, signal.shape(), &result));
    const auto in = signal.flat<T>();
    std::transform(in.data(), in.data() + in.size(), result->flat<T>().data(),
                   formula_);
  }

 private:
  const Formula formula_;
};

// Gives quiet numbers more of the range from 0 to 1 than loud ones,
// or undoes that. In double, since mu may be as small or large as a float.
struct MuLaw {
  template <typename T>
  T operator()(T x) const {
    const double range = std::log1p(double{mu});
    const double size = std::abs(x);
    const double result =
        decode ? std::expm1(size * range) / mu : std::log1p(mu * size) / range;
    return std::copysign(static_cast<T>(result), x);
  }

  bool decode = false;
  float mu = 255;
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_BACKWARD_COMPATIBILITY_BACKWARD_COMPATIBILITY_H_
