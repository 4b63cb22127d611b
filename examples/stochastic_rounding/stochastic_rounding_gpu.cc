// The ops on the GPU: TensorFlow's side. No CUDA header, so g++ compiles it.

#include "stochastic_rounding_gpu.h"

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "stochastic_rounding_op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla/stream_executor/stream.h"

namespace op_by_op {
namespace {

struct Gpu {
  template <typename From, typename To>
  static absl::Status Run(tensorflow::OpKernelContext* context, int64_t groups,
                          const RoundFour<From, To>& work) {
    void* stream = context->op_device_context()
                       ->stream()
                       ->platform_specific_handle()
                       .stream;
    const char* error =
        StochasticRoundLaunch(stream, std::is_same_v<From, Float64>,
                              std::is_same_v<To, Half>, groups, &work);
    return error == nullptr
               ? absl::OkStatus()
               : absl::InternalError(absl::StrCat("CUDA says: ", error));
  }
};

// The host turns the seed into a key, so it stays there.
#define REGISTER_STOCHASTIC_ROUND_ON_GPU(T, Small)             \
  REGISTER_KERNEL_BUILDER(Name("StochasticRound")              \
                              .Device(tensorflow::DEVICE_GPU)  \
                              .TypeConstraint<T>("T")          \
                              .TypeConstraint<Small>("dtype"), \
                          StochasticRoundOp<Gpu, T, Small>);   \
  REGISTER_KERNEL_BUILDER(Name("StatelessStochasticRound")     \
                              .Device(tensorflow::DEVICE_GPU)  \
                              .HostMemory("seed")              \
                              .TypeConstraint<T>("T")          \
                              .TypeConstraint<Small>("dtype"), \
                          StatelessStochasticRoundOp<Gpu, T, Small>)
// As on the CPU.
REGISTER_STOCHASTIC_ROUND_ON_GPU(float, tensorflow::bfloat16);
REGISTER_STOCHASTIC_ROUND_ON_GPU(float, Eigen::half);
REGISTER_STOCHASTIC_ROUND_ON_GPU(double, tensorflow::bfloat16);
REGISTER_STOCHASTIC_ROUND_ON_GPU(double, Eigen::half);

}  // namespace
}  // namespace op_by_op
