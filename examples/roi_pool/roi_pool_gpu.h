// The GPU kernels as C functions: all that TensorFlow's side, compiled by g++,
// knows of CUDA's, compiled by nvcc. Each returns null, or what went wrong.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_GPU_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_GPU_H_

#include <cstdint>

#include "roi_pool_geometry.h"

namespace op_by_op {

// Pointers are to device memory, except `sizes`, `on_host` and the
// return value. type: 0 half, 1 bfloat16, 2 float, 3 double. argmax: null for
// inference.
extern "C" {
#pragma GCC visibility push(default)

// The bytes of memory that RoiPoolLaunch and RoiPoolGradLaunch work in. Its
// address is a multiple of 16.
int64_t RoiPoolScratch(int type, const Sizes* sizes);

// scratch: null works, too, and may be slower.
const char* RoiPoolLaunch(void* stream, int type, const Sizes* sizes,
                          const void* features, const float* rois,
                          void* scratch, void* pooled, int32_t* argmax);

int64_t RoiPoolGradScratch(const Sizes* sizes);

// sizes->spatial_scale: 0 where it is not known.
const char* RoiPoolGradLaunch(void* stream, int type, const Sizes* sizes,
                              const void* gradient, const int32_t* argmax,
                              const float* rois, void* scratch, void* features);

// Copies, and waits until all that was put on the stream before is done.
const char* RoiPoolCopyToHost(void* stream, const void* on_device,
                              void* on_host, int64_t bytes);

#pragma GCC visibility pop
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_GPU_H_
