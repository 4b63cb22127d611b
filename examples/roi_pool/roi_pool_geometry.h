// Where the bins of a region of interest lie: shared by every kernel, on the
// CPU and on the GPU, so that all of them read the same pixels.
//
// Never compile what includes this with -ffast-math, which rearranges the
// division: a bin edge that moves by one rounding error moves by one pixel.
// Without contracting a * b + c (-ffp-contract=off, nvcc --fmad=false), a sum
// of products would be safe as well; so far there is none.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_GEOMETRY_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_GEOMETRY_H_

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define OP_BY_OP_HOST_DEVICE __host__ __device__
#else
#define OP_BY_OP_HOST_DEVICE
#endif

namespace op_by_op {

// [region] One region in whole pixels of the map.
struct Region {
  int32_t y, x;        // the first row and column
  int32_t rows, cols;  // at least 1
};

constexpr float kFarthest = 1 << 29;  // no sum of two overflows

OP_BY_OP_HOST_DEVICE inline int32_t RoundToPixel(float scaled) {
  // Half away from zero, as in Caffe. `scaled` is not NaN.
  return static_cast<int32_t>(
      std::round(std::fmin(std::fmax(scaled, -kFarthest), kFarthest)));
}

OP_BY_OP_HOST_DEVICE inline int32_t AtLeastOne(int32_t size) {
  return size > 1 ? size : 1;
}

OP_BY_OP_HOST_DEVICE inline Region RegionOf(const float* roi, float scale) {
  // `roi`: batch index, x1, y1, x2, y2 in the pixels of the image.
  const int32_t x1 = RoundToPixel(roi[1] * scale);
  const int32_t y1 = RoundToPixel(roi[2] * scale);
  const int32_t x2 = RoundToPixel(roi[3] * scale);
  const int32_t y2 = RoundToPixel(roi[4] * scale);
  return {y1, x1, AtLeastOne(y2 - y1 + 1), AtLeastOne(x2 - x1 + 1)};
}

// [bin] The pixels begin <= i < end of bin `p` along one axis.
struct Span {
  int32_t begin, end;
};

OP_BY_OP_HOST_DEVICE inline int32_t Clip(int32_t i, int32_t limit) {
  return i < 0 ? 0 : i > limit ? limit : i;
}

OP_BY_OP_HOST_DEVICE inline Span BinSpan(int32_t p, int32_t pooled,
                                         int32_t start, int32_t size,
                                         int32_t limit) {
  // A region from `start` over `size` pixels, cut into `pooled` bins, on a map
  // of `limit` pixels. Bins overlap where size / pooled is not whole, and are
  // empty outside of the map.
  const float bin = static_cast<float>(size) / static_cast<float>(pooled);
  const auto first =
      static_cast<int32_t>(std::floor(static_cast<float>(p) * bin));
  const auto beyond =
      static_cast<int32_t>(std::ceil(static_cast<float>(p + 1) * bin));
  return {Clip(start + first, limit), Clip(start + beyond, limit)};
}

// Sizes of one call. Of their products only height * width is sure to fit
// 32 bits.
struct Sizes {
  int64_t batch, height, width, channels;
  int64_t num_rois, pooled_height, pooled_width;
  float spatial_scale;
};

// Beyond this, p would not be exact in float32.
constexpr int64_t kMostBins = 1 << 24;

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_GEOMETRY_H_
