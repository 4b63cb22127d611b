// [old] The spelling of older releases: it compiles, with a warning.
#include "tensorflow/core/framework/op_kernel.h"

absl::Status CheckStride(int stride) {
  if (stride > 0) return absl::OkStatus();
  return tensorflow::errors::InvalidArgument("stride must be positive, but is ",
                                             stride);
}
