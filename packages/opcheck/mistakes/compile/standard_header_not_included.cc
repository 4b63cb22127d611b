// [wrong]
#include "tensorflow/core/framework/tensor.h"
bool wrong(const tensorflow::Tensor& x) {
  return std::regex_match(x.DebugString(), std::regex("Tensor.*"));
}
// [cured]
#include <regex>
bool cured(const tensorflow::Tensor& x) {
  return std::regex_match(x.DebugString(), std::regex("Tensor.*"));
}
