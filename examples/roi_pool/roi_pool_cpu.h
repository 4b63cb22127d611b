// The kernels of the CPU, apart from TensorFlow.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CPU_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CPU_H_

#include <cstdint>

#include "roi_pool.h"

namespace op_by_op {

// The bits of the two types that C++17 does not have.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

// Rows of bins from `begin` to before `end`, of num_rois * pooled_height.
// argmax may be null.
template <typename T>
void PoolPlain(const Sizes& sizes, const T* features, const float* rois,
               int64_t begin, int64_t end, T* pooled, int32_t* argmax);

// All that flows back to channels `begin` to before `end` of image `image`.
// `features` need not be initialised. Returns whether every argmax was a pixel
// of the map or -1.
template <typename T>
bool PoolGrad(const Sizes& sizes, const T* gradient, const int32_t* argmax,
              const float* rois, int64_t image, int64_t begin, int64_t end,
              T* features);

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CPU_H_
