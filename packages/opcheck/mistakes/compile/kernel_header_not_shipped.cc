// [wrong]
#include "tensorflow/core/kernels/data/dataset_utils.h"
// [cured]
#include "tensorflow/core/data/dataset_utils.h"
