// RoiPool at its simplest: one bin after the other.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_PLAIN_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_PLAIN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "roi_pool_geometry.h"

namespace op_by_op {

// [plain] One output element after the other.
template <typename T>
void PoolPlain(const T* pixels, int64_t width, int64_t channels, Span rows,
               Span cols, T* pooled, int32_t* argmax) {
  for (int64_t c = 0; c < channels; ++c) {
    T best = -std::numeric_limits<T>::infinity();
    int64_t where = rows.begin * width + cols.begin;
    for (int64_t h = rows.begin; h < rows.end; ++h) {
      for (int64_t w = cols.begin; w < cols.end; ++w) {
        const T value = pixels[(h * width + w) * channels + c];
        if (value > best) {
          best = value;
          where = h * width + w;
        }
      }
    }
    pooled[c] = best;
    if (argmax != nullptr) argmax[c] = where;
  }
}

// [bins] The bins with the numbers from begin to before end.
template <typename T, typename PoolBin>
void PoolBins(const Sizes& sizes, const T* features, const float* rois,
              T* pooled, int32_t* argmax, PoolBin pool, int64_t begin,
              int64_t end) {
  const int64_t image = sizes.height * sizes.width * sizes.channels;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i / sizes.pooled_width, out = i * sizes.channels;
    const float* roi = rois + row / sizes.pooled_height * 5;
    const Region region = RegionOf(roi, sizes.spatial_scale);
    const Span rows = BinSpan(row % sizes.pooled_height, sizes.pooled_height,
                              region.y, region.rows, sizes.height);
    const Span cols = BinSpan(i % sizes.pooled_width, sizes.pooled_width,
                              region.x, region.cols, sizes.width);
    int32_t* where = argmax == nullptr ? nullptr : argmax + out;
    if (rows.begin < rows.end && cols.begin < cols.end) {
      pool(features + static_cast<int64_t>(roi[0]) * image, sizes.width,
           sizes.channels, rows, cols, pooled + out, where);
    } else {
      std::fill_n(pooled + out, sizes.channels, 0);
      if (where != nullptr) std::fill_n(where, sizes.channels, -1);
    }
  }
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_PLAIN_H_
