// [wrong]
#include "tensorflow/core/util/cuda_kernel_helper.h"
// [cured]
#include "tensorflow/core/util/gpu_kernel_helper.h"
