// A first CUDA kernel for RoiPool and its launcher, for the GPU's chapter.

#include <cmath>
#include <cstdint>

#include "../common/cuda_launch.h"
#include "roi_pool_geometry.h"

namespace op_by_op {

// [each] One thread for each element of the outputs.
static __global__ void PoolEach(Sizes sizes, const float* features,
                                const float* rois, float* pooled,
                                int32_t* argmax) {
  const int64_t count = sizes.num_rois * sizes.pooled_height *
                        sizes.pooled_width * sizes.channels;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int64_t c = i % sizes.channels, bin = i / sizes.channels;
  const int64_t row = bin / sizes.pooled_width;
  const float* roi = rois + row / sizes.pooled_height * 5;
  const Region region = RegionOf(roi, sizes.spatial_scale);
  const Span rows = BinSpan(row % sizes.pooled_height, sizes.pooled_height,
                            region.y, region.rows, sizes.height);
  const Span cols = BinSpan(bin % sizes.pooled_width, sizes.pooled_width,
                            region.x, region.cols, sizes.width);
  const bool empty = rows.begin >= rows.end || cols.begin >= cols.end;
  float best = empty ? 0 : -INFINITY;
  int32_t where = empty ? -1 : rows.begin * sizes.width + cols.begin;
  const int64_t first =
      static_cast<int64_t>(roi[0]) * sizes.height * sizes.width;
  for (int32_t h = rows.begin; h < rows.end; ++h) {
    for (int32_t w = cols.begin; w < cols.end; ++w) {
      const int32_t pixel = h * sizes.width + w;
      const float value = features[(first + pixel) * sizes.channels + c];
      if (value > best) {
        best = value;
        where = pixel;
      }
    }
  }
  pooled[i] = best;
  argmax[i] = where;
}

// On blocks of 256 threads.
extern "C" __attribute__((visibility("default"))) const char* PoolEachLaunch(
    void* stream, const Sizes* sizes, const float* features, const float* rois,
    float* pooled, int32_t* argmax) {
  const int64_t count = sizes->num_rois * sizes->pooled_height *
                        sizes->pooled_width * sizes->channels;
  if (count == 0) return nullptr;
  return Launch(PoolEach, (count + 255) / 256, 256, 0, stream, *sizes, features,
                rois, pooled, argmax);
}

}  // namespace op_by_op
