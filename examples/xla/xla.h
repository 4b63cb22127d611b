// What the kernels and the custom call share.

#ifndef OP_BY_OP_EXAMPLES_XLA_XLA_H_
#define OP_BY_OP_EXAMPLES_XLA_XLA_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace op_by_op {

// A decay of 0 would average nothing (and make NaN of an infinity before), and
// one of 1 would never let a value in.
inline absl::Status CheckDecay(float decay) {
  if (decay > 0 && decay < 1) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "decay must be greater than 0 and less than 1, got ", decay));
}

// [functor] Each value is a step from the average before it to the signal.
template <typename T>
void ExponentialAverage(const T* signal, T* average, int64_t rows,
                        int64_t length, T decay) {
  for (int64_t row = 0; row < rows; ++row) {
    T before = 0;
    for (int64_t i = row * length; i < (row + 1) * length; ++i) {
      before = decay * before + (1 - decay) * signal[i];
      average[i] = before;
    }
  }
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_XLA_XLA_H_
