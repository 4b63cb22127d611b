// LogCosh: the logarithm of the hyperbolic cosine of each element.

#define EIGEN_USE_THREADS

#include "log_cosh.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/kernels/cwise_ops_common.h"
#include "tensorflow/core/platform/cpu_info.h"

#ifdef __x86_64__
namespace op_by_op_avx2 {
void LogCoshOfFloats(const float* x, float* y, int64_t size);
}  // namespace op_by_op_avx2
namespace op_by_op_avx512 {
void LogCoshOfFloats(const float* x, float* y, int64_t size);
}  // namespace op_by_op_avx512
#endif

namespace op_by_op {

void LogCoshOfFloats(const float* x, float* y, int64_t size) {
  ForPackets<LogCosh<float>>(x, y, size);
}

// One input, one output of the same shape and type.
REGISTER_OP("LogCosh")
    .Attr("T: {half, bfloat16, float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(
        "Computes log(cosh(x)) for each element, without overflow. In float, "
        "the relative error is below 1e-6 for |x| >= 2.2e-19; below, y may be "
        "0.");

// What UnaryOp asks of a functor.
template <typename T>
struct log_cosh : tensorflow::functor::base<T, LogCosh<T>> {};

// [choose] The version for the widest registers that the processor has.
inline auto Chosen() -> decltype(&LogCoshOfFloats) {
#ifdef __x86_64__
  using tensorflow::port::CPUFeature;
  using tensorflow::port::TestCPUFeature;
  if (TestCPUFeature(CPUFeature::AVX512F) &&
      TestCPUFeature(CPUFeature::AVX512DQ) &&
      TestCPUFeature(CPUFeature::AVX512BW) &&
      TestCPUFeature(CPUFeature::AVX512VL) && TestCPUFeature(CPUFeature::FMA)) {
    return op_by_op_avx512::LogCoshOfFloats;
  }
  if (TestCPUFeature(CPUFeature::AVX2) && TestCPUFeature(CPUFeature::FMA)) {
    return op_by_op_avx2::LogCoshOfFloats;
  }
#endif
  return LogCoshOfFloats;
}

// [share] In place of Eigen's loop. 16 bits are widened, so that only the
// result is rounded.
template <typename T>
struct LogCoshOfFloatsOr16Bits {
  void operator()(const tensorflow::CPUDevice& device,
                  typename tensorflow::TTypes<T>::Flat y,
                  typename tensorflow::TTypes<T>::ConstFlat x) {
    static const auto of_floats = Chosen();
    const Eigen::TensorOpCost cost(sizeof(T), sizeof(T), /*cycles=*/5);
    device.parallelFor(x.size(), cost, [&](int64_t begin, int64_t end) {
      if constexpr (sizeof(T) == sizeof(float)) {
        of_floats(x.data() + begin, y.data() + begin, end - begin);
        return;
      }
      constexpr int64_t kFloats = 1024;
      float wide[kFloats];
      for (; begin < end; begin += kFloats) {
        const int64_t size = std::min(kFloats, end - begin);
        std::copy_n(x.data() + begin, size, wide);
        of_floats(wide, wide, size);
        for (int64_t i = 0; i < size; ++i) y(begin + i) = T(wide[i]);
      }
    });
  }
};

}  // namespace op_by_op

namespace tensorflow::functor {

// [specialize] UnaryOp calls this in place of an expression of Eigen's.
template <>
struct UnaryFunctor<CPUDevice, op_by_op::log_cosh<float>>
    : op_by_op::LogCoshOfFloatsOr16Bits<float> {};
template <>
struct UnaryFunctor<CPUDevice, op_by_op::log_cosh<Eigen::half>>
    : op_by_op::LogCoshOfFloatsOr16Bits<Eigen::half> {};
template <>
struct UnaryFunctor<CPUDevice, op_by_op::log_cosh<Eigen::bfloat16>>
    : op_by_op::LogCoshOfFloatsOr16Bits<Eigen::bfloat16> {};

}  // namespace tensorflow::functor

namespace op_by_op {
namespace {

// A kernel for each type.
using tensorflow::CPUDevice;
using tensorflow::DEVICE_CPU;
REGISTER4(tensorflow::UnaryOp, CPU, "LogCosh", log_cosh, float, double,
          Eigen::half, Eigen::bfloat16);

// dx = tanh(x) * dy
absl::Status LogCoshGrad(const tensorflow::AttrSlice& /*attrs*/,
                         tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "LogCoshGrad", {"x: T", "dy: T"}, {"dx: T"},
      {"T: {half, bfloat16, float, double}"},
      {
          {{"slope"}, "Tanh", {"x"}, {{"T", "$T"}}},
          {{"scaled"}, "Mul", {"slope:y:0", "dy"}, {{"T", "$T"}}},
      },
      {{"dx", "scaled:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("LogCosh", LogCoshGrad);

}  // namespace
}  // namespace op_by_op
