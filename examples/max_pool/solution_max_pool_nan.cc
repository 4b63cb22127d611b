// The exercise: MaxPoolNan, whose windows are NaN if one of their pixels is.

#include <limits>

#include "absl/status/status.h"
#include "max_pool.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// [rule] NaN replaces all, and is replaced by none.
struct LargerOrNan {
  template <typename T>
  static T Start() {
    return -std::numeric_limits<T>::infinity();
  }
  template <typename T>
  static T Of(T best, T x) {
    if (best < x || x != x) best = x;
    return best;
  }
};

// [register] The kernel is MaxPool's.
REGISTER_OP("MaxPoolNan")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn(PoolShape);
REGISTER_KERNEL_BUILDER(Name("MaxPoolNan").Device(tensorflow::DEVICE_CPU),
                        PoolOp<LargerOrNan, float>);

}  // namespace
}  // namespace op_by_op
