// [needs] TensorFlow 2.19
// [wrong]
#include "tensorflow/compiler/xla/statusor.h"
// [cured]
#include "absl/status/statusor.h"
