// [needs] TensorFlow 2.21
// [wrong]
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
