// [needs] TensorFlow 2.20
// [wrong]
#include "tensorflow/stream_executor/stream.h"
// [cured]
#include "xla/stream_executor/stream.h"
