// The GPU kernels: CUDA and nothing of TensorFlow, so nvcc takes seconds, and
// any nvcc will do. With cuda_on_host.h a C++ compiler builds them, too.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../common/cuda_launch.h"
#include "roi_pool_geometry.h"
#include "roi_pool_gpu.h"

namespace op_by_op {
namespace {

// Neighbouring channels, read and written at once.
template <typename T, int kVector>
struct alignas(sizeof(T) * kVector < 16 ? sizeof(T) * kVector : 16) Vector {
  T at[kVector];
};

// nvcc reads a Vector at once, but writes its elements one by one.
template <typename T, int kVector>
__device__ inline void Store(const Vector<T, kVector>& values, T* to) {
  constexpr int kWords = sizeof(values) / sizeof(uint4);
  if constexpr (kWords > 0) {
    uint4 words[kWords];
    memcpy(words, &values, sizeof(words));
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      __stwb(reinterpret_cast<uint4*>(to) + i, words[i]);
    }
  } else if constexpr (sizeof(values) == sizeof(uint2)) {
    uint2 word;
    memcpy(&word, &values, sizeof(word));
    __stwb(reinterpret_cast<uint2*>(to), word);
  } else {
    *reinterpret_cast<Vector<T, kVector>*>(to) = values;
  }
}

// To a type that has comparison and addition, and back.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

__device__ inline float Widen(__half value) { return __half2float(value); }
__device__ inline float Widen(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline float Widen(float value) { return value; }
__device__ inline double Widen(double value) { return value; }

__device__ inline void Narrow(float value, __half* to) {
  *to = __float2half_rn(value);
}
__device__ inline void Narrow(float value, __nv_bfloat16* to) {
  *to = __float2bfloat16_rn(value);
}
__device__ inline void Narrow(float value, float* to) { *to = value; }
__device__ inline void Narrow(double value, double* to) { *to = value; }

// The GPU reports no error, so a bad region has no pixels.
__device__ inline bool IsUsable(const float* roi, int64_t batch) {
  bool finite = true;
  for (int i = 1; i < 5; ++i) finite &= fabsf(roi[i]) <= 3.402823466e38f;
  return finite && roi[0] >= 0 && roi[0] < static_cast<double>(batch) &&
         roi[0] == floorf(roi[0]);
}

constexpr int kThreads = 256;    // of a block
constexpr int kTeamVectors = 2;  // that a thread works on at once

// In a large map, bins of many pixels are read window by window: the maximum of
// each square of pixels, and where in it, are found once for all regions.
// Windows of a bin may overlap. This pays where regions have many times the
// pixels of the maps.
constexpr int kBits = 2, kEdge = 1 << kBits;  // of a window
constexpr int kStrip = 4 * kEdge;             // rows of windows for a thread
#ifndef OP_BY_OP_LARGE_MAP                    // a test sets 1
#define OP_BY_OP_LARGE_MAP (1 << 14)
#endif
#ifndef OP_BY_OP_TIMES_READ  // a test sets 0
#define OP_BY_OP_TIMES_READ 8
#endif

bool IsLarge(const Sizes& sizes) {
  return sizes.height * sizes.width >= OP_BY_OP_LARGE_MAP;
}

// [windows] Their maxima, and whether to read these.
template <typename T>
struct Windows {
  int64_t* read;   // the pixels of all regions; null: there are no windows
  int64_t needed;  // of `read`, for windows to be used
  T* maxima;       // [batch, height, width, channels]
  uint8_t* first;  // where in the window: y << kBits | x

  __device__ bool used() const { return read != nullptr && *read >= needed; }
};

// In one block.
constexpr int kCounters = 256;  // threads

__global__ void CountKernel(Sizes sizes, const float* __restrict__ rois,
                            int64_t* __restrict__ read) {
  __shared__ int64_t sums[kCounters];
  int64_t sum = 0;
  for (int64_t n = threadIdx.x; n < sizes.num_rois; n += kCounters) {
    const float* roi = rois + n * 5;
    if (!IsUsable(roi, sizes.batch)) continue;
    const Region region = RegionOf(roi, sizes.spatial_scale);
    const int64_t down = Clip(region.y + region.rows, sizes.height) -
                         Clip(region.y, sizes.height);
    const int64_t across =
        Clip(region.x + region.cols, sizes.width) - Clip(region.x, sizes.width);
    sum += down * across;
  }
  sums[threadIdx.x] = sum;
  for (int half = kCounters / 2; half > 0; half /= 2) {
    __syncthreads();
    const int i = threadIdx.x;
    if (i < half) sums[i] += sums[i + half];
  }
  if (threadIdx.x == 0) *read = sums[0];
}

// A thread goes down a strip of the map, with the maxima of the last rows.
template <typename T, int kVector>
__global__ void WindowKernel(Sizes sizes, const T* __restrict__ features,
                             Windows<T> windows) {
  if (!windows.used()) return;
  using Values = Vector<T, kVector>;
  using Places = Vector<uint8_t, kVector>;
  const int64_t groups = sizes.channels / kVector;
  const int64_t across = sizes.width - kEdge + 1;
  const int64_t down = sizes.height - kEdge + 1;
  const int64_t strips = (down + kStrip - 1) / kStrip;
  const int64_t count = sizes.batch * strips * across * groups;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < count; i += stride) {
    const int64_t x = i / groups % across;
    const int64_t begin = i / groups / across % strips * kStrip;
    const int64_t end = begin + kStrip < down ? begin + kStrip : down;
    const int64_t image = i / groups / across / strips;
    const int64_t row = sizes.width * sizes.channels;
    const int64_t at =
        image * sizes.height * row + x * sizes.channels + i % groups * kVector;
    Wide<T> best[kEdge][kVector];  // of the row y + k, from x on
    int where[kEdge][kVector];
    for (int64_t y = begin; y < end + kEdge - 1; y += kEdge) {
#pragma unroll
      for (int k = 0; k < kEdge; ++k) {
        if (y + k >= end + kEdge - 1) break;
        const T* from = features + at + (y + k) * row;
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          best[k][v] = -static_cast<Wide<T>>(INFINITY);
          where[k][v] = 0;
        }
#pragma unroll
        for (int w = 0; w < kEdge; ++w) {
          const Values values =
              *reinterpret_cast<const Values*>(from + w * sizes.channels);
#pragma unroll
          for (int v = 0; v < kVector; ++v) {
            const Wide<T> value = Widen(values.at[v]);
            if (value > best[k][v]) {
              best[k][v] = value;
              where[k][v] = w;
            }
          }
        }
        const int64_t top = y + k - (kEdge - 1);
        if (top < begin) continue;
        Values maxima;
        Places places;
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          Wide<T> most = best[(k + 1) % kEdge][v];
          int place = where[(k + 1) % kEdge][v];
#pragma unroll
          for (int h = 1; h < kEdge; ++h) {
            const int other = (k + 1 + h) % kEdge;
            if (best[other][v] > most) {
              most = best[other][v];
              place = h << kBits | where[other][v];
            }
          }
          Narrow(most, &maxima.at[v]);
          places.at[v] = place;
        }
        Store(maxima, windows.maxima + at + top * row);
        *reinterpret_cast<Places*>(windows.first + at + top * row) = places;
      }
    }
  }
}

// The maxima of a bin that is at least as large as a window, in the thread's
// vectors: `from` its first one in the map, the others `step` apart, as far as
// there are `left` channels.
template <typename T, int kVector>
__device__ inline void ScanWindows(const Windows<T>& windows,
                                   const Sizes& sizes, Span rows, Span cols,
                                   int64_t from, int64_t step, int64_t left,
                                   Wide<T> (&best)[kTeamVectors][kVector],
                                   int32_t (&where)[kTeamVectors][kVector]) {
  using Values = Vector<T, kVector>;
  using Places = Vector<uint8_t, kVector>;
  const int32_t width = sizes.width;
  // [scan] The last window of a row or column ends where the bin ends.
  for (int32_t h = rows.begin; h < rows.end; h += kEdge) {
    const int32_t y = min(h, rows.end - kEdge);
#pragma unroll 2
    for (int32_t w = cols.begin; w < cols.end; w += kEdge) {
      const int32_t corner = y * width + min(w, cols.end - kEdge);
      // []
      const int64_t channel = from + corner * sizes.channels;
#pragma unroll
      for (int k = 0; k < kTeamVectors; ++k) {
        if (k * step >= left) break;
        const Values values = *reinterpret_cast<const Values*>(
            windows.maxima + channel + k * step);
        const Places places = *reinterpret_cast<const Places*>(
            windows.first + channel + k * step);
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
          const Wide<T> value = Widen(values.at[v]);
          const int32_t pixel = corner + (places.at[v] >> kBits) * width +
                                (places.at[v] & (kEdge - 1));
          // The first of equal ones: a window to the left of another may have
          // its own in a lower row.
          if (value > best[k][v] ||
              (value == best[k][v] && pixel < where[k][v])) {
            best[k][v] = value;
            where[k][v] = pixel;
          }
        }
      }
    }
  }
}

// A team of neighbouring threads for each bin, which share its channels.
template <typename T, int kVector, bool kWithArgmax, bool kByWindows>
__global__ void PoolKernel(Sizes sizes, int team_bits,
                           const T* __restrict__ features,
                           const float* __restrict__ rois, Windows<T> windows,
                           T* __restrict__ pooled,
                           int32_t* __restrict__ argmax) {
  using Values = Vector<T, kVector>;
  const bool windows_are_used = kByWindows && windows.used();
  const int64_t bins =
      sizes.num_rois * sizes.pooled_height * sizes.pooled_width;
  // [team] The threads of a team have one bin, so they compute the same edges.
  const int64_t step = int64_t{kVector} << team_bits;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < bins << team_bits; i += stride) {
    const int64_t bin = i >> team_bits;
    const int64_t row = bin / sizes.pooled_width;
    const float* roi = rois + row / sizes.pooled_height * 5;
    Span rows{0, 0}, cols{0, 0};
    int64_t image = 0;
    if (IsUsable(roi, sizes.batch)) {
      image = static_cast<int64_t>(roi[0]);
      const Region region = RegionOf(roi, sizes.spatial_scale);
      rows = BinSpan(row % sizes.pooled_height, sizes.pooled_height, region.y,
                     region.rows, sizes.height);
      cols = BinSpan(bin % sizes.pooled_width, sizes.pooled_width, region.x,
                     region.cols, sizes.width);
    }
    // []
    const bool empty = rows.begin >= rows.end || cols.begin >= cols.end;
    const int32_t width = sizes.width;
    const int64_t map = image * sizes.height * width * sizes.channels;
    const bool by_windows = windows_are_used &&
                            rows.end - rows.begin >= kEdge &&
                            cols.end - cols.begin >= kEdge;

    // [share] The thread's share of the channels, two vectors at a time.
    const int64_t lane = i - (bin << team_bits);
    for (int64_t first = lane * kVector; first < sizes.channels;
         first += kTeamVectors * step) {
      Wide<T> best[kTeamVectors][kVector];
      int32_t where[kTeamVectors][kVector];
      for (int k = 0; k < kTeamVectors; ++k) {
        for (int v = 0; v < kVector; ++v) {
          best[k][v] = empty ? Wide<T>{0} : -static_cast<Wide<T>>(INFINITY);
          where[k][v] = empty ? -1 : rows.begin * width + cols.begin;
        }
      }
      // []
      if (by_windows) {
        ScanWindows(windows, sizes, rows, cols, map + first, step,
                    sizes.channels - first, best, where);
      } else {
        // [read] The vectors of each pixel of the bin.
        for (int32_t h = rows.begin; h < rows.end; ++h) {
#pragma unroll 4
          for (int32_t w = cols.begin; w < cols.end; ++w) {
            const int32_t pixel = h * width + w;
            const T* channel = features + map + pixel * sizes.channels + first;
#pragma unroll
            for (int k = 0; k < kTeamVectors; ++k) {
              if (first + k * step >= sizes.channels) break;
              const Values values =
                  *reinterpret_cast<const Values*>(channel + k * step);
#pragma unroll
              for (int v = 0; v < kVector; ++v) {
                const Wide<T> value = Widen(values.at[v]);
                if (value > best[k][v]) {  // never true of NaN
                  best[k][v] = value;
                  where[k][v] = pixel;
                }
              }
            }
          }
        }
      }
#pragma unroll
      for (int k = 0; k < kTeamVectors; ++k) {
        if (first + k * step >= sizes.channels) break;
        const int64_t out = bin * sizes.channels + first + k * step;
        Values values;
        Vector<int32_t, kVector> pixels;
        for (int v = 0; v < kVector; ++v) {
          Narrow(best[k][v], &values.at[v]);
          pixels.at[v] = where[k][v];
        }
        Store(values, pooled + out);
        if constexpr (kWithArgmax) Store(pixels, argmax + out);
      }
    }
  }
}

// The gradient cuts the maps into square tiles: large ones, so that a large bin
// is read for few of them, but small ones of a small map, where they would be
// too few for the GPU.
constexpr int kSmall = 2, kLarge = 8;  // edges, in pixels

struct Tiles {
  int edge;
  int64_t down, across;
  int64_t words;  // of 64 regions each, read in pairs

  explicit Tiles(const Sizes& sizes)
      : edge(IsLarge(sizes) ? kLarge : kSmall),
        down((sizes.height + edge - 1) / edge),
        across((sizes.width + edge - 1) / edge),
        words((sizes.num_rois + 127) / 128 * 2) {}

  __host__ __device__ int64_t lines() const { return down + across; }
};

// The bins of which a pixel may lie at begin <= i < end.
__device__ inline Span BinsIn(int32_t begin, int32_t end, int32_t start,
                              int32_t size, int32_t pooled, int32_t limit) {
  const float bins = static_cast<float>(pooled) / static_cast<float>(size);
  // One more at each end covers the rounding, and is then taken back.
  const float from = floorf(static_cast<float>(begin - start) * bins) - 2;
  const float to = ceilf(static_cast<float>(end - start) * bins) + 2;
  const auto most = static_cast<float>(pooled);
  Span p{static_cast<int32_t>(fminf(fmaxf(from, 0), most)),
         static_cast<int32_t>(fminf(fmaxf(to, 0), most))};
  while (p.begin < p.end &&
         BinSpan(p.begin, pooled, start, size, limit).end <= begin) {
    ++p.begin;
  }
  while (p.begin < p.end &&
         BinSpan(p.end - 1, pooled, start, size, limit).begin >= end) {
    --p.end;
  }
  return p;
}

// Which bins of each region may have their maximum in which row of tiles, and
// in which column: [num_rois, down + across], empty where the region is not
// usable.
__global__ void SpanKernel(Sizes sizes, Tiles tiles,
                           const float* __restrict__ rois,
                           Span* __restrict__ spans) {
  const int64_t lines = tiles.lines();
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < sizes.num_rois * lines; i += stride) {
    const float* roi = rois + i / lines * 5;
    const bool is_row = i % lines < tiles.down;
    const int64_t limit = is_row ? sizes.height : sizes.width;
    const int64_t begin =
        (is_row ? i % lines : i % lines - tiles.down) * tiles.edge;
    const int32_t pooled = is_row ? sizes.pooled_height : sizes.pooled_width;
    Span span{0, 0};
    if (IsUsable(roi, sizes.batch)) {
      span.end = pooled;
      if (sizes.spatial_scale > 0) {
        const Region region = RegionOf(roi, sizes.spatial_scale);
        const int64_t end =
            begin + tiles.edge < limit ? begin + tiles.edge : limit;
        span = BinsIn(begin, end, is_row ? region.y : region.x,
                      is_row ? region.rows : region.cols, pooled, limit);
      }
    }
    spans[i] = span;
  }
}

// [touch] One bit for each tile of each image and each region.
__global__ void TouchKernel(Sizes sizes, Tiles tiles,
                            const float* __restrict__ rois,
                            const Span* __restrict__ spans,
                            uint64_t* __restrict__ touches) {
  const int64_t all = sizes.batch * tiles.down * tiles.across;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < all * tiles.words; i += stride) {
    // Neighbours have neighbouring tiles and read the same regions.
    const int64_t first = i / all * 64, tile = i % all;
    const int64_t x = tile % tiles.across, y = tile / tiles.across % tiles.down;
    const double image = tile / tiles.across / tiles.down;
    uint64_t word = 0;
    for (int bit = 0; bit < 64 && first + bit < sizes.num_rois; ++bit) {
      const int64_t n = first + bit;
      if (double{rois[n * 5]} != image) continue;
      const Span* lines = spans + n * tiles.lines();
      const Span down = lines[y], across = lines[tiles.down + x];
      const bool touched = down.begin < down.end && across.begin < across.end;
      word |= static_cast<uint64_t>(touched) << bit;
    }
    touches[tile * tiles.words + first / 64] = word;
  }
}

// A thread owns some channels of a tile: no atomics, one order.
constexpr int kMostThreads = 64;  // of a block
constexpr int kAtOnce = 8;        // bins, whose reads overlap in time

// a / b for 0 <= a < 2^31, as a multiplication: the GPU has no instruction
// for the division of integers.
struct Divider {
  explicit Divider(int64_t b) {
    for (shift = 31; int64_t{1} << (shift - 31) < b; ++shift) {
    }
    factor = ((uint64_t{1} << shift) + b - 1) / b;
  }
  __device__ int32_t Divide(uint32_t a) const {
    return uint64_t{a} * factor >> shift;
  }

  uint32_t factor;
  int shift;
};

// Of the bins of a region, those that may have their maximum in a tile.
struct Rectangle {
  int64_t first;  // where it begins in the gradient, without the channel
  int32_t down, across;
};

template <typename T, int kVector, int kEdge>
__global__ void GradientKernel(Sizes sizes, Tiles tiles, Divider by_width,
                               const T* __restrict__ gradient,
                               const int32_t* __restrict__ argmax,
                               const Span* __restrict__ spans,
                               const uint64_t* __restrict__ touches,
                               T* __restrict__ features) {
  using Values = Vector<T, kVector>;
  using Pixels = Vector<int32_t, kVector>;
  __shared__ Rectangle rectangles[kMostThreads];
  const int32_t height = sizes.height, width = sizes.width;
  const int64_t chunk = static_cast<int64_t>(blockDim.x) * kVector;
  const int64_t chunks = (sizes.channels + chunk - 1) / chunk;
  const int64_t count = sizes.batch * tiles.down * tiles.across * chunks;
  // The sums of a small tile fit into registers. Those of others are shared
  // memory, [pixel of the tile][element of the vector][thread]: each thread
  // reads and writes its own.
  constexpr int kPixels = kEdge * kEdge;
  constexpr bool kInRegisters = kEdge == kSmall;
  [[maybe_unused]] constexpr int kUnroll = kInRegisters ? kPixels : 1;
  Wide<T> own[kInRegisters ? kPixels * kVector : 1];
  auto* shared = reinterpret_cast<Wide<T>*>(SharedMemory()) + threadIdx.x;
  const auto at = [&](int32_t pixel, int v) -> Wide<T>& {
    return kInRegisters ? own[pixel * kVector + v]
                        : shared[(pixel * kVector + v) * blockDim.x];
  };

  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const int64_t c = i % chunks * chunk + threadIdx.x * kVector;
    const int64_t tile = i / chunks;
    const int64_t column = tile % tiles.across;
    const int64_t row = tile / tiles.across % tiles.down;
    const int32_t x = column * kEdge, y = row * kEdge;
    const int64_t image = tile / tiles.across / tiles.down;
    const auto place = [&](int32_t pixel) {  // in the map, or -1
      const int64_t h = y + int64_t{pixel / kEdge},
                    w = x + int64_t{pixel % kEdge};
      return h < height && w < width ? static_cast<int32_t>(h * width + w) : -1;
    };
    [[maybe_unused]] int32_t places[kInRegisters ? kPixels : 1];
#pragma unroll kUnroll
    for (int32_t pixel = 0; pixel < kPixels; ++pixel) {
      for (int v = 0; v < kVector; ++v) at(pixel, v) = 0;
      if constexpr (kInRegisters) places[pixel] = place(pixel);
    }
    // Only if the maximum was found in this tile.
    const auto add = [&](int32_t found, int v, Wide<T> value) {
      if constexpr (kInRegisters) {
#pragma unroll
        for (int32_t pixel = 0; pixel < kPixels; ++pixel) {
          if (found == places[pixel]) at(pixel, v) += value;
        }
      } else if (found >= 0) {
        const int32_t h = by_width.Divide(found) - y;
        const int32_t w = found - (h + y) * width - x;
        if (h < 0 || h >= kEdge || w < 0 || w >= kEdge) return;
        at(h * kEdge + w, v) += value;
      }
    };

    // Each thread looks up the rectangle of one region, and then all go
    // through all of them.
    int64_t mine = 0;
    int listed = 0;
    const auto add_listed = [&] {
      if (static_cast<int>(threadIdx.x) < listed) {
        const Span* lines = spans + mine * tiles.lines();
        const Span down = lines[row], across = lines[tiles.down + column];
        const int64_t bin =
            (mine * sizes.pooled_height + down.begin) * sizes.pooled_width +
            across.begin;
        rectangles[threadIdx.x] = {bin * sizes.channels, down.end - down.begin,
                                   across.end - across.begin};
      }
      __syncthreads();
      int64_t in = 0;
      int32_t next = 0, down = 0, across = 0, left = 0;  // left of a row
      int some = c < sizes.channels ? kAtOnce : 0;
      while (some == kAtOnce) {
        Pixels where[kAtOnce];
        Values values[kAtOnce];
        some = 0;
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          if (left == 0) {
            if (down > 0) {
              in += (sizes.pooled_width - across) * sizes.channels;
            } else {
              if (next == listed) break;
              const Rectangle& rectangle = rectangles[next++];
              in = rectangle.first + c;
              down = rectangle.down;
              across = rectangle.across;
            }
            --down;
            left = across;
          }
          --left;
          // Of one bin after the other: eight are read, then added.
          where[k] = *reinterpret_cast<const Pixels*>(argmax + in);
          values[k] = *reinterpret_cast<const Values*>(gradient + in);
          in += sizes.channels;
          ++some;
        }
        // [order] In the order of the regions and of their bins.
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          if (k >= some) break;
#pragma unroll
          for (int v = 0; v < kVector; ++v) {
            add(where[k].at[v], v, Widen(values[k].at[v]));
          }
        }
      }
      __syncthreads();  // before the list is written again
      listed = 0;
    };
    for (int64_t word = 0; word < tiles.words; word += 2) {
      auto left = *reinterpret_cast<const ulonglong2*>(
          touches + tile * tiles.words + word);
      int64_t first = word * 64;
      while ((left.x | left.y) != 0) {
        if (left.x == 0) {
          left = {left.y, 0};
          first += 64;
        }
        if (listed == static_cast<int>(threadIdx.x)) {
          mine = first + __ffsll(left.x) - 1;
        }
        left.x &= left.x - 1;
        if (++listed == static_cast<int>(blockDim.x)) add_listed();
      }
    }
    add_listed();

    // Each pixel of the tile once.
    if (c >= sizes.channels) continue;
#pragma unroll kUnroll
    for (int32_t pixel = 0; pixel < kPixels; ++pixel) {
      const int32_t to = place(pixel);
      if (to < 0) continue;
      Values values;
      for (int v = 0; v < kVector; ++v) Narrow(at(pixel, v), &values.at[v]);
      Store(values,
            features + (image * height * width + to) * sizes.channels + c);
    }
  }
}

// As many blocks as there is work for, and a grid-stride loop for the rest.
#ifndef OP_BY_OP_MOST_BLOCKS  // a test sets 3
#define OP_BY_OP_MOST_BLOCKS (1 << 20)
#endif

int64_t Blocks(int64_t items, int64_t of_a_block) {
  return std::min<int64_t>((items + of_a_block - 1) / of_a_block,
                           OP_BY_OP_MOST_BLOCKS);
}

template <typename T, int kVector>
bool Aligned(int64_t channels, const void* pointer) {
  return channels % kVector == 0 &&
         reinterpret_cast<uintptr_t>(pointer) % alignof(Vector<T, kVector>) ==
             0;
}

template <typename T>
constexpr int kFullVector = 16 / sizeof(T);

// A team of 2 to the team_bits threads for each bin.
template <typename T, int kVector>
const char* LaunchPool(void* stream, const Sizes& sizes, const T* features,
                       const float* rois, const Windows<T>& windows, T* pooled,
                       int32_t* argmax) {
  const int64_t bins =
      sizes.num_rois * sizes.pooled_height * sizes.pooled_width;
  int team_bits = 0;
  while (team_bits < 5 &&
         int64_t{kTeamVectors * kVector} << team_bits < sizes.channels) {
    ++team_bits;
  }
  constexpr bool kMay = kVector == kFullVector<T>;  // read by windows
  const bool by_windows = kMay && windows.read != nullptr;
  const auto kernel = argmax != nullptr
                          ? by_windows ? PoolKernel<T, kVector, true, kMay>
                                       : PoolKernel<T, kVector, true, false>
                      : by_windows ? PoolKernel<T, kVector, false, kMay>
                                   : PoolKernel<T, kVector, false, false>;
  return Launch(kernel, Blocks(bins << team_bits, kThreads), kThreads, 0,
                stream, sizes, team_bits, features, rois, windows, pooled,
                argmax);
}

// Where windows lie in this memory. Returns its size: 0 if they cannot pay off.
template <typename T>
int64_t LayOut(const Sizes& sizes, void* scratch, Windows<T>* windows) {
  if (sizes.batch == 0 || !IsLarge(sizes) || sizes.height < kEdge ||
      sizes.width < kEdge ||
      sizes.num_rois < OP_BY_OP_TIMES_READ * sizes.batch ||
      sizes.channels % kFullVector<T> != 0) {
    return 0;
  }
  constexpr int64_t kBefore = 16;  // for the count, and the alignment
  const int64_t pixels = sizes.batch * sizes.height * sizes.width;
  const int64_t maxima = pixels * sizes.channels * int64_t{sizeof(T)};
  if (auto* bytes = static_cast<char*>(scratch); bytes != nullptr) {
    *windows = {reinterpret_cast<int64_t*>(bytes), OP_BY_OP_TIMES_READ * pixels,
                reinterpret_cast<T*>(bytes + kBefore),
                reinterpret_cast<uint8_t*>(bytes + kBefore + maxima)};
  }
  return kBefore + maxima + pixels * sizes.channels;
}

template <typename T>
int64_t PoolScratch(const Sizes& sizes) {
  return LayOut<T>(sizes, nullptr, nullptr);
}

template <typename T>
const char* FindWindows(void* stream, const Sizes& sizes, const T* features,
                        const float* rois, const Windows<T>& windows) {
  const char* error =
      Launch(CountKernel, 1, kCounters, 0, stream, sizes, rois, windows.read);
  if (error != nullptr) return error;
  constexpr int kVector = kFullVector<T>;
  const int64_t strips = (sizes.height - kEdge + kStrip) / kStrip;
  const int64_t threads = sizes.batch * strips * (sizes.width - kEdge + 1) *
                          (sizes.channels / kVector);
  return Launch(WindowKernel<T, kVector>, Blocks(threads, kThreads), kThreads,
                0, stream, sizes, features, windows);
}

template <typename T>
const char* Pool(void* stream, const Sizes& sizes, const void* features,
                 const float* rois, void* scratch, void* pooled,
                 int32_t* argmax) {
  constexpr int kVector = kFullVector<T>;
  const auto* map = static_cast<const T*>(features);
  const bool aligned = Aligned<T, kVector>(sizes.channels, features) &&
                       Aligned<T, kVector>(sizes.channels, pooled) &&
                       Aligned<int32_t, kVector>(sizes.channels, argmax);
  Windows<T> windows{};
  if (aligned && scratch != nullptr) LayOut(sizes, scratch, &windows);
  if (windows.read != nullptr) {
    const char* error = FindWindows(stream, sizes, map, rois, windows);
    if (error != nullptr) return error;
  }
  return (aligned ? LaunchPool<T, kVector>
                  : LaunchPool<T, 1>)(stream, sizes, map, rois, windows,
                                      static_cast<T*>(pooled), argmax);
}

// Blocks for tiles and channels, and shared memory for the sums.
template <typename T, int kVector, int kEdge>
const char* LaunchEdge(void* stream, const Sizes& sizes, const Tiles& tiles,
                       const T* gradient, const int32_t* argmax,
                       const Span* spans, const uint64_t* touches,
                       T* features) {
  const int64_t threads = sizes.channels <= kVector * 32 ? 32 : kMostThreads;
  const int64_t chunk = threads * kVector;
  const int64_t work = sizes.batch * tiles.down * tiles.across *
                       ((sizes.channels + chunk - 1) / chunk);
  const int64_t bytes =
      kEdge == kSmall ? 0 : kEdge * kEdge * chunk * sizeof(Wide<T>);
  return Launch(GradientKernel<T, kVector, kEdge>, Blocks(work, 1), threads,
                bytes, stream, sizes, tiles, Divider(sizes.width), gradient,
                argmax, spans, touches, features);
}

template <typename T, int kVector>
const char* LaunchGradient(void* stream, const Sizes& sizes, const Tiles& tiles,
                           const T* gradient, const int32_t* argmax,
                           const Span* spans, const uint64_t* touches,
                           T* features) {
  const auto launch = tiles.edge == kSmall ? LaunchEdge<T, kVector, kSmall>
                                           : LaunchEdge<T, kVector, kLarge>;
  return launch(stream, sizes, tiles, gradient, argmax, spans, touches,
                features);
}

template <typename T>
const char* Gradient(void* stream, const Sizes& sizes, const Tiles& tiles,
                     const void* gradient, const int32_t* argmax,
                     const Span* spans, const uint64_t* touches,
                     void* features) {
  constexpr int kVector = sizeof(T) < 8 ? 2 : 1;
  const bool aligned = Aligned<T, kVector>(sizes.channels, gradient) &&
                       Aligned<T, kVector>(sizes.channels, features) &&
                       Aligned<int32_t, kVector>(sizes.channels, argmax);
  return (aligned ? LaunchGradient<T, kVector>
                  : LaunchGradient<T, 1>)(stream, sizes, tiles,
                                          static_cast<const T*>(gradient),
                                          argmax, spans, touches,
                                          static_cast<T*>(features));
}

}  // namespace

extern "C" int64_t RoiPoolScratch(int type, const Sizes* sizes) {
  constexpr decltype(&PoolScratch<float>) kScratch[] = {
      PoolScratch<__half>, PoolScratch<__nv_bfloat16>, PoolScratch<float>,
      PoolScratch<double>};
  return kScratch[type](*sizes);
}

extern "C" const char* RoiPoolLaunch(void* stream, int type, const Sizes* sizes,
                                     const void* features, const float* rois,
                                     void* scratch, void* pooled,
                                     int32_t* argmax) {
  if (sizes->num_rois == 0 || sizes->channels == 0) return nullptr;
  constexpr decltype(&Pool<float>) kPools[] = {
      Pool<__half>, Pool<__nv_bfloat16>, Pool<float>, Pool<double>};
  return kPools[type](stream, *sizes, features, rois, scratch, pooled, argmax);
}

extern "C" int64_t RoiPoolGradScratch(const Sizes* sizes) {
  const Tiles tiles(*sizes);
  return sizes->batch * tiles.down * tiles.across * tiles.words *
             int64_t{sizeof(uint64_t)} +
         sizes->num_rois * tiles.lines() * int64_t{sizeof(Span)};
}

extern "C" const char* RoiPoolGradLaunch(
    void* stream, int type, const Sizes* sizes, const void* gradient,
    const int32_t* argmax, const float* rois, void* scratch, void* features) {
  if (sizes->batch * sizes->height * sizes->width * sizes->channels == 0) {
    return nullptr;
  }
  Sizes used = *sizes;
  if (used.pooled_height * used.pooled_width == 0) used.num_rois = 0;
  const Tiles tiles(used);
  const int64_t words = used.batch * tiles.down * tiles.across * tiles.words;
  auto* touches = static_cast<uint64_t*>(scratch);  // aligned for their pairs
  auto* spans = reinterpret_cast<Span*>(touches + words);
  if (used.num_rois > 0) {
    const char* error =
        Launch(SpanKernel, Blocks(used.num_rois * tiles.lines(), kThreads),
               kThreads, 0, stream, used, tiles, rois, spans);
    if (error == nullptr) {
      error = Launch(TouchKernel, Blocks(words, kThreads), kThreads, 0, stream,
                     used, tiles, rois, spans, touches);
    }
    if (error != nullptr) return error;
  }
  constexpr decltype(&Gradient<float>) kGradients[] = {
      Gradient<__half>, Gradient<__nv_bfloat16>, Gradient<float>,
      Gradient<double>};
  return kGradients[type](stream, used, tiles, gradient, argmax, spans, touches,
                          features);
}

extern "C" const char* RoiPoolCopyToHost(void* stream, const void* on_device,
                                         void* on_host, int64_t bytes) {
  return CopyToHost(stream, on_device, on_host, bytes);
}

}  // namespace op_by_op
