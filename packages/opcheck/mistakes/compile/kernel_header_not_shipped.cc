// [wrong]
#include "tensorflow/core/kernels/data/dataset_utils.h"
