// AbsDifference: |x - y| of two tensors that are broadcast to one shape.

#define EIGEN_USE_THREADS

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/kernels/cwise_ops_common.h"

namespace op_by_op {
namespace {

// [interface] Any two shapes that broadcast.
REGISTER_OP("AbsDifference")
    .Attr("T: {half, float, double, uint8, int32}")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .SetShapeFn(tensorflow::shape_inference::BroadcastBinaryOpShapeFn)
    .Doc(
        "Computes |x - y| with broadcasting. A difference that an integer type "
        "does not hold wraps around, as that of 2147483647 and -1.");

// [functor] Unsigned numbers wrap around below 0, so the smaller one is taken
// off the larger one.
template <typename T>
struct AbsDifference {
  T operator()(const T& x, const T& y) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;  // may wrap around
      const Unsigned difference =
          x > y ? Unsigned(x) - Unsigned(y) : Unsigned(y) - Unsigned(x);
      return static_cast<T>(difference);
    } else {
      return Eigen::numext::abs(x - y);
    }
  }
};

// [register] BinaryOp is TensorFlow's kernel, and base what it asks of a
// functor.
template <typename T>
struct abs_difference : tensorflow::functor::base<T, AbsDifference<T>> {
  // Fast where float or double is broadcast along a row or a column.
  static constexpr bool use_bcast_optimization = true;
};

using tensorflow::CPUDevice;
using tensorflow::DEVICE_CPU;
REGISTER5(tensorflow::BinaryOp, CPU, "AbsDifference", abs_difference,
          Eigen::half, float, double, uint8_t, int32_t);

// dx = sign(x - y) * dz and dy = -dx, summed over what was repeated.
absl::Status AbsDifferenceGrad(const tensorflow::AttrSlice& /*attrs*/,
                               tensorflow::FunctionDef* function) {
  const std::vector<
      std::pair<std::string, tensorflow::FunctionDefHelper::AttrValueWrapper>>
      type = {{"T", "$T"}};
  *function = tensorflow::FunctionDefHelper::Create(
      "AbsDifferenceGrad", {"x: T", "y: T", "dz: T"}, {"dx: T", "dy: T"},
      {"T: {half, float, double}"},
      {
          {{"difference"}, "Sub", {"x", "y"}, type},
          {{"sign"}, "Sign", {"difference:z:0"}, type},
          {{"up"}, "Mul", {"sign:y:0", "dz"}, type},
          {{"down"}, "Neg", {"up:z:0"}, type},
          {{"x_shape"}, "Shape", {"x"}, type},
          {{"y_shape"}, "Shape", {"y"}, type},
          {{"repeated"},
           "BroadcastGradientArgs",
           {"x_shape:output:0", "y_shape:output:0"}},
          {{"x_sum"}, "Sum", {"up:z:0", "repeated:r0:0"}, type},
          {{"y_sum"}, "Sum", {"down:y:0", "repeated:r1:0"}, type},
          {{"x_whole"},
           "Reshape",
           {"x_sum:output:0", "x_shape:output:0"},
           type},
          {{"y_whole"},
           "Reshape",
           {"y_sum:output:0", "y_shape:output:0"},
           type},
      },
      {{"dx", "x_whole:output:0"}, {"dy", "y_whole:output:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("AbsDifference", AbsDifferenceGrad);

}  // namespace
}  // namespace op_by_op
