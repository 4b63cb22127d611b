// ExponentialAverage as a function that programs compiled by XLA can call.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "xla.h"
#include "xla/service/custom_call_status.h"
#include "xla/service/custom_call_target_registry.h"

namespace op_by_op {
namespace {

// [call] XLA passes only pointers, so the sizes and the decay come as text.
template <typename T>
void Call(void* output, const void** inputs, const char* config, size_t size,
          XlaCustomCallStatus*) {
  double decay = 0;
  int64_t rows = 0, length = 0;
  std::istringstream(std::string(config, size)) >> decay >> rows >> length;
  ExponentialAverage<T>(static_cast<const T*>(inputs[0]),
                        static_cast<T*>(output), rows, length,
                        static_cast<float>(decay));
}

// [register] "Host" is the CPU.
XLA_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM("exponential_average_float32",
                                         Call<float>, "Host");
XLA_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM("exponential_average_float64",
                                         Call<double>, "Host");

}  // namespace
}  // namespace op_by_op
