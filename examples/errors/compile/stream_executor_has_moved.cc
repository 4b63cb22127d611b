// [wrong]
#include "tensorflow/stream_executor/stream.h"
// [cured]
#include "tensorflow/core/platform/stream_executor.h"
