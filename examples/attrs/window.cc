// The checks of window.h, for the shape function and the kernel.

#include "window.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace op_by_op {

absl::Status CheckOdd(int64_t window) {
  if (window % 2 == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("window must be odd, but is ", window));
}

absl::Status CheckFits(int64_t window, int64_t length) {
  if (window <= length) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("window must be at most the length of signal, ", length,
                   ", but is ", window));
}

}  // namespace op_by_op
