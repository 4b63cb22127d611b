// What the CPU and the GPU compute: each function gives a few elements, and
// knows nothing of threads. Compile without contracting a * b + c
// (-ffp-contract=off, nvcc --fmad=false), so that both give the same bits.

#ifndef OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_H_
#define OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define OP_BY_OP_HOST_DEVICE __host__ __device__
#else
#define OP_BY_OP_HOST_DEVICE
#endif

namespace op_by_op {

// A bin: its region, and its row and column there.
struct Bin {
  int64_t region, row, column;
};

// The sizes of one call. features: [batch, height, width, bins * channels].
struct Sizes {
  int64_t batch, height, width, channels;
  int64_t num_rois, pooled_height, pooled_width;
  int64_t sampling_ratio;
  int64_t most_pixels;  // of one bin along one axis, that there is memory for
  float spatial_scale;

  OP_BY_OP_HOST_DEVICE int64_t bins() const {
    return pooled_height * pooled_width;  // of a region
  }
  // Bin `i`, counted over all regions.
  OP_BY_OP_HOST_DEVICE Bin BinAt(int64_t i) const {
    return {i / bins(), i % bins() / pooled_width, i % pooled_width};
  }
  // Of the channels of a pixel, the first that is the bin's.
  OP_BY_OP_HOST_DEVICE int64_t FirstChannel(Bin bin) const {
    return (bin.row * pooled_width + bin.column) * channels;
  }
};

constexpr float kFarthest = 1 << 20;       // no coordinate is beyond
constexpr int64_t kMostBins = 1 << 24;     // exact in float32
constexpr int64_t kMostSamples = 1 << 10;  // of one bin along one axis

// 16-bit types are added in float.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

// Samples of bin `p` of a region along one axis, as torchvision places them.
template <typename W>
struct Samples {
  W start, bin, count;

  OP_BY_OP_HOST_DEVICE Samples(float from, float to, W scale, int64_t bins,
                               int64_t p, int64_t ratio) {
    const W begin = Clip(from * scale) - W{0.5};
    bin = (Clip(to * scale) - W{0.5} - begin) / static_cast<W>(bins);
    start = static_cast<W>(p) * bin + begin;
    count = ratio > 0 ? static_cast<W>(ratio) : std::ceil(bin);
  }

  static OP_BY_OP_HOST_DEVICE W Clip(W x) {
    return x < -kFarthest ? -kFarthest : x > kFarthest ? kFarthest : x;
  }

  // The j-th from below, also in a region that is reversed.
  OP_BY_OP_HOST_DEVICE W At(W j) const {
    const W i = bin < 0 ? count - 1 - j : j;
    return start + (i + W{0.5}) * bin / count;
  }

  // The first that is not below the map: a huge region has millions below.
  OP_BY_OP_HOST_DEVICE W First() const {
    W below = -1, other = count;
    while (other - below > 1) {
      const W middle = std::floor((below + other) / 2);
      (At(middle) >= -1 ? other : below) = middle;
    }
    return other;
  }
};

// How much each pixel of a row or column counts in the mean of a bin.
// Pixels first <= i < first + count have a weight.
struct Span {
  int32_t first, count;
};

OP_BY_OP_HOST_DEVICE inline bool IsUsable(const float* roi, int64_t batch) {
  bool finite = true;
  for (int i = 1; i < 5; ++i) finite &= std::fabs(roi[i]) <= 3.402823466e38f;
  return finite && roi[0] >= 0 && roi[0] < static_cast<double>(batch) &&
         roi[0] == std::floor(roi[0]);
}

template <typename W>
struct Weights {
  Sizes sizes;
  const float* rois;  // [num_rois, 5]: batch index, x1, y1, x2, y2
  Span* spans;        // [num_rois, pooled_height + pooled_width]
  W* weights;         // [num_rois, pooled_height + pooled_width, most_pixels]

  // A region has slots for its rows of bins, and then for its columns.
  OP_BY_OP_HOST_DEVICE int64_t Slots(int64_t regions) const {
    return regions * (sizes.pooled_height + sizes.pooled_width);
  }
  OP_BY_OP_HOST_DEVICE int64_t RowSlot(Bin bin) const {
    return Slots(bin.region) + bin.row;
  }
  OP_BY_OP_HOST_DEVICE int64_t ColumnSlot(Bin bin) const {
    return Slots(bin.region) + sizes.pooled_height + bin.column;
  }
  // Of the rows of all images, the first that counts in the bin, if one does.
  OP_BY_OP_HOST_DEVICE int64_t FirstRow(Bin bin) const {
    const auto image = static_cast<int64_t>(rois[bin.region * 5]);
    return image * sizes.height + spans[RowSlot(bin)].first;
  }

  // [fill] Adds up the weights of a slot, sample by sample.
  OP_BY_OP_HOST_DEVICE void Fill(int64_t slot) const {
    const int64_t n = slot / Slots(1), p = slot % Slots(1);
    const bool is_row = p < sizes.pooled_height;
    const float* roi = rois + n * 5;
    const auto limit =
        static_cast<int32_t>(is_row ? sizes.height : sizes.width);
    W* weight = weights + slot * sizes.most_pixels;
    Span span{0, 0};
    if (limit > 0 && IsUsable(roi, sizes.batch)) {
      const Samples<W> samples(
          roi[is_row ? 2 : 1], roi[is_row ? 4 : 3], sizes.spatial_scale,
          is_row ? sizes.pooled_height : sizes.pooled_width,
          is_row ? p : p - sizes.pooled_height, sizes.sampling_ratio);
      for (W j = samples.First(); j < samples.count; ++j) {
        W at = samples.At(j);
        if (!(at <= limit)) break;
        if (at < 0) at = 0;
        auto low = static_cast<int32_t>(at);
        if (low >= limit - 1) {
          low = limit - 1;
          at = low;
        }
        if (span.count == 0) span.first = low;
        const int32_t i = low - span.first;
        while (span.count < i + 2 && span.count < sizes.most_pixels) {
          weight[span.count++] = 0;
        }
        const W high = at - static_cast<W>(low);
        if (i < span.count) weight[i] += (1 - high) / samples.count;
        if (i + 1 < span.count) weight[i + 1] += high / samples.count;
      }
      // The pixel after the last one may not be there, and weighs nothing.
      if (span.first + span.count > limit) span.count = limit - span.first;
    }
    spans[slot] = span;
  }
};

// The mean of a bin in kLanes channels from `c` on.
template <typename T>
struct Align {
  Weights<Wide<T>> bins;
  const T* features;
  T* pooled;

  template <int kLanes>
  OP_BY_OP_HOST_DEVICE void At(Bin bin, int64_t c) const {
    const Sizes& sizes = bins.sizes;
    const int64_t row_slot = bins.RowSlot(bin), col_slot = bins.ColumnSlot(bin);
    const Span rows = bins.spans[row_slot], cols = bins.spans[col_slot];
    const Wide<T>* row_weight = bins.weights + row_slot * sizes.most_pixels;
    const Wide<T>* col_weight = bins.weights + col_slot * sizes.most_pixels;
    const int64_t step = sizes.bins() * sizes.channels;  // to the next pixel
    const int64_t own = sizes.FirstChannel(bin) + c;
    Wide<T> sums[kLanes] = {};
    for (int32_t y = 0; y < rows.count; ++y) {
      const int64_t row = bins.FirstRow(bin) + y;
      const T* pixel = features + (row * sizes.width + cols.first) * step + own;
      for (int32_t x = 0; x < cols.count; ++x, pixel += step) {
        const Wide<T> weight = row_weight[y] * col_weight[x];
        if (weight == 0) continue;  // between samples: 0 * infinity is NaN
        for (int k = 0; k < kLanes; ++k) {
          sums[k] += weight * static_cast<Wide<T>>(pixel[k]);
        }
      }
    }
    T* to = pooled + bin.region * step + own;
    for (int k = 0; k < kLanes; ++k) to[k] = static_cast<T>(sums[k]);
  }
};

// What row `row` of all images gets from a bin, in kLanes channels from `c`
// on.
template <typename T>
struct AlignGrad {
  Weights<Wide<T>> bins;
  const T* gradient;
  Wide<T>* sums;  // of the shape of the features
  T* output;      // likewise; the same memory where T is wide

  OP_BY_OP_HOST_DEVICE bool Reaches(Bin bin, int64_t row) const {
    const int32_t count = bins.spans[bins.RowSlot(bin)].count;
    if (count == 0) return false;
    const int64_t first = bins.FirstRow(bin);
    return row >= first && row < first + count;
  }

  template <int kLanes>
  OP_BY_OP_HOST_DEVICE void Add(Bin bin, int64_t row, int64_t c) const {
    const Sizes& sizes = bins.sizes;
    const int64_t row_slot = bins.RowSlot(bin), col_slot = bins.ColumnSlot(bin);
    const Span cols = bins.spans[col_slot];
    const Wide<T>* col_weight = bins.weights + col_slot * sizes.most_pixels;
    const Wide<T> row_weight =
        bins.weights[row_slot * sizes.most_pixels + row - bins.FirstRow(bin)];
    const int64_t step = sizes.bins() * sizes.channels;  // to the next pixel
    const int64_t own = sizes.FirstChannel(bin) + c;
    const T* from = gradient + bin.region * step + own;
    Wide<T> given[kLanes];
    for (int k = 0; k < kLanes; ++k) given[k] = static_cast<Wide<T>>(from[k]);
    Wide<T>* pixel = sums + (row * sizes.width + cols.first) * step + own;
    for (int32_t x = 0; x < cols.count; ++x, pixel += step) {
      const Wide<T> weight = row_weight * col_weight[x];
      if (weight == 0) continue;
      for (int k = 0; k < kLanes; ++k) pixel[k] += weight * given[k];
    }
  }
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_H_
