// A map of which much is read more than once: all rows of bins from the top
// of the map to its bottom, some channels at a time.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SWEEP_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SWEEP_H_

#include <cstdint>

#include "roi_pool_cpu.h"

namespace op_by_op {

// All rows of bins in the order of the images and of their first rows, and the
// bins of all regions along the width.
struct Sweep {
  struct Item {
    int64_t row;  // of bins, of num_rois * pooled_height
    Span rows;    // of the map
  };
  const Item* items;
  const Span* cols;  // [num_rois, pooled_width]
};

int64_t SweepBytes(const Sizes& sizes);

// `scratch`: SweepBytes of memory.
Sweep SweepOf(const Sizes& sizes, const float* rois, uint8_t* scratch);

// Whether the packed rows of a slice of channels fit into memory that a thread
// should take.
template <typename T>
bool SlicesFit(const Sizes& sizes);

template <typename T>
void PoolSweep(const Pooling<T>& call, const Path<T>& path, const BinRow& row,
               const Sweep& sweep, int64_t cycles, const Shard& shard);

// Bins of region `roi` along the width, and bin `p` along the height.
void Columns(const Sizes& sizes, const float* roi, Span* cols);
Span Rows(const Sizes& sizes, const float* roi, int64_t p);

template <typename T>
const T* ImageOf(const Sizes& sizes, const T* features, const float* roi) {
  return features + static_cast<int64_t>(roi[0]) * sizes.height * sizes.width *
                        sizes.channels;
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_SWEEP_H_
