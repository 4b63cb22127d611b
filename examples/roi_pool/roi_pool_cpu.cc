// Who pools which bins, in what order and from where; and the gradient.

#include "roi_pool_cpu.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace op_by_op {

// [dispatch] What the processor has, asked once.
template <typename T>
Path<T> FindPath(const char* name) {
  const auto wanted = [name](const char* path) {
    return name == nullptr || std::strcmp(name, path) == 0;
  };
#if defined(__x86_64__)
  static const bool has_avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (wanted("avx512") && has_avx512) return avx512::GetPath<T>();
  if (wanted("avx2") && has_avx2) return avx2::GetPath<T>();
#endif
  return wanted("baseline") ? baseline::GetPath<T>() : Path<T>{};
}

// The sweep writes whole lines of a large output past the caches.
constexpr int64_t kStreamedBytes = int64_t{1} << 22;

bool Streams(int64_t bytes) { return bytes >= kStreamedBytes; }

void FinishStores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

namespace {

// How much there is to read decides how to read it.
constexpr int64_t kSliceChannels = 64;
constexpr int64_t kSlice = int64_t{1} << 26;  // the most bytes of one, packed
// Bytes of an image that stay in the L3 cache. Packing also converts the half
// types, once: that pays for nearly all.
template <typename T>
constexpr int64_t kNear = int64_t{1} << (sizeof(T) == 2 ? 16 : 23);

template <typename T>
const T* ImageOf(const Sizes& sizes, const T* features, const float* roi) {
  return features + static_cast<int64_t>(roi[0]) * sizes.height * sizes.width *
                        sizes.channels;
}

// About as many pixels as all bins have, counting those in two bins twice.
int64_t PixelsToRead(const Sizes& sizes, const float* rois) {
  int64_t pixels = 0;
  for (int64_t n = 0; n < sizes.num_rois; ++n) {
    const Region region = RegionOf(rois + n * 5, sizes.spatial_scale);
    pixels +=
        (std::min<int64_t>(region.rows, sizes.height) + sizes.pooled_height) *
        (std::min<int64_t>(region.cols, sizes.width) + sizes.pooled_width);
  }
  return pixels;
}

// The channels from Slice(i) to before Slice(i + 1) are packed together.
int64_t Slice(int64_t channels, int64_t slices, int64_t i) {
  return i == slices ? channels : channels * i / slices / 16 * 16;
}

int64_t WidestSlice(int64_t channels, int64_t slices) {
  return std::min(channels, channels / slices + 16);
}

// Bins of region `roi` along the width.
void Columns(const Sizes& sizes, const float* roi, Span* cols) {
  const Region region = RegionOf(roi, sizes.spatial_scale);
  for (int64_t p = 0; p < sizes.pooled_width; ++p) {
    cols[p] =
        BinSpan(p, sizes.pooled_width, region.x, region.cols, sizes.width);
  }
}

Span Rows(const Sizes& sizes, const float* roi, int64_t p) {
  const Region region = RegionOf(roi, sizes.spatial_scale);
  return BinSpan(p, sizes.pooled_height, region.y, region.rows, sizes.height);
}

// Few pixels, or a map that stays in the cache: read it where it is.
template <typename T>
void PoolDirect(const Sizes& sizes, const T* features, const float* rois,
                T* pooled, int32_t* argmax, const Path<T>& path, BinRow row,
                Span* cols, int64_t begin, int64_t end) {
  row.pixel_stride = row.channels = sizes.channels;
  row.image_size = sizes.height * sizes.width * sizes.channels;
  row.cols = cols;
  for (int64_t i = begin; i < end; ++i) {
    const float* roi = rois + i / sizes.pooled_height * 5;
    const int64_t p = i % sizes.pooled_height;
    if (p == 0 || i == begin) Columns(sizes, roi, cols);
    row.rows = Rows(sizes, roi, p);
    const int64_t out = i * sizes.pooled_width * sizes.channels;
    path.pool(row, ImageOf(sizes, features, roi), pooled + out,
              argmax == nullptr ? nullptr : argmax + out);
  }
}

using Item = Sweep::Item;

template <typename E>
E* Take(uint8_t** scratch, int64_t count) {
  auto* first = reinterpret_cast<E*>(*scratch);
  *scratch += count * int64_t{sizeof(E)};
  return first;
}

int64_t SweepBytes(const Sizes& sizes) {
  return (sizes.batch * (sizes.height + 1) + 1) * int64_t{sizeof(int64_t)} +
         sizes.num_rois * sizes.pooled_height * int64_t{2 * sizeof(Item)};
}

}  // namespace

Sweep SweepOf(const Sizes& sizes, const float* rois, uint8_t* scratch) {
  const int64_t count = sizes.num_rois * sizes.pooled_height;
  const int64_t keys = sizes.batch * (sizes.height + 1);
  auto* starts = Take<int64_t>(&scratch, keys + 1);
  std::fill_n(starts, keys + 1, 0);
  auto* items = Take<Item>(&scratch, count);
  auto* sorted = Take<Item>(&scratch, count);
  const auto key = [&](const Item& item) {
    const float* roi = rois + item.row / sizes.pooled_height * 5;
    return static_cast<int64_t>(roi[0]) * (sizes.height + 1) + item.rows.begin;
  };
  for (int64_t i = 0; i < count; ++i) {
    const float* roi = rois + i / sizes.pooled_height * 5;
    items[i] = {i, Rows(sizes, roi, i % sizes.pooled_height)};
    ++starts[key(items[i]) + 1];
  }
  for (int64_t i = 1; i <= keys; ++i) starts[i] += starts[i - 1];
  for (int64_t i = 0; i < count; ++i)
    sorted[starts[key(items[i])]++] = items[i];
  auto* cols = Take<Span>(&scratch, sizes.num_rois * sizes.pooled_width);
  for (int64_t n = 0; n < sizes.num_rois; ++n) {
    Columns(sizes, rois + n * 5, &cols[n * sizes.pooled_width]);
  }
  return {sorted, cols};
}

namespace {

// Down the map, some channels at a time, which are packed as they are
// reached.
template <typename T>
void PoolPacked(const Sizes& sizes, const T* features, const float* rois,
                T* pooled, int32_t* argmax, const Path<T>& path, BinRow row,
                const Sweep& sweep, int64_t slices, Wide<T>* packed,
                int64_t begin, int64_t end) {
  const int64_t count = sizes.num_rois * sizes.pooled_height;
  for (int64_t slice = begin / count; slice * count < end; ++slice) {
    const int64_t c = Slice(sizes.channels, slices, slice);
    row.channels = Slice(sizes.channels, slices, slice + 1) - c;
    row.pixel_stride = row.channels;
    const int64_t row_size = sizes.width * row.channels;
    row.image_size = sizes.height * row_size;
    const T* image = nullptr;
    int32_t ready = 0;  // rows of the image
    for (int64_t i = std::max(begin - slice * count, int64_t{0});
         i < std::min(end - slice * count, count); ++i) {
      const Item& item = sweep.items[i];
      const int64_t n = item.row / sizes.pooled_height;
      row.rows = item.rows;
      row.cols = &sweep.cols[n * sizes.pooled_width];
      if (image != ImageOf(sizes, features, rois + n * 5)) {
        image = ImageOf(sizes, features, rois + n * 5);
        ready = 0;
      }

      // [sweep] Copy what is new, and pool.
      ready = std::max(ready, row.rows.begin);
      if (ready < row.rows.end) {
        path.pack(image + ready * sizes.width * sizes.channels + c,
                  (row.rows.end - ready) * sizes.width, sizes.channels,
                  row.channels, packed + ready * row_size);
        ready = row.rows.end;
      }
      const int64_t out = item.row * sizes.pooled_width * sizes.channels + c;
      path.pool_packed(row, packed, pooled + out,
                       argmax == nullptr ? nullptr : argmax + out);
    }
  }
}

}  // namespace

// A map of which much is read more than once is read by the sweep.
template <typename T>
Plan PlanOf(const Sizes& sizes, const float* rois, Layout layout) {
  const int64_t pixels = PixelsToRead(sizes, rois);
  const int64_t map = sizes.height * sizes.width;
  const bool fits = map * std::min(sizes.channels, 2 * kSliceChannels) *
                        int64_t{sizeof(Wide<T>)} <=
                    kSlice;
  if (layout == Layout::kAuto) {
    layout = fits && pixels >= 2 * sizes.batch * map &&
                     map * sizes.channels * int64_t{sizeof(T)} > kNear<T>
                 ? Layout::kPacked
                 : Layout::kDirect;
  }
  // On every machine so far, the sweep gains from writing past the caches.
  if (layout == Layout::kDirect) return {layout, pixels, 0, false};
  const int64_t spans = sizes.num_rois * sizes.pooled_width;
  return {layout, pixels, SweepBytes(sizes) + spans * int64_t{sizeof(Span)},
          true};
}

// The results are the same whichever way it goes, and on any threads.
template <typename T>
void Pool(const Sizes& sizes, const T* features, const float* rois, T* pooled,
          int32_t* argmax, const Path<T>& path, const Plan& plan,
          uint8_t* scratch, const Shard& shard) {
  const int64_t rows = sizes.num_rois * sizes.pooled_height;
  const int64_t bins = rows * sizes.pooled_width;
  const int64_t bytes = sizeof(T) + (argmax == nullptr ? 0 : sizeof(int32_t));
  BinRow row{};
  row.width = sizes.width;
  row.bins = sizes.pooled_width;
  row.bin_stride = sizes.channels;
  row.streaming = plan.streams && Streams(bins * sizes.channels * bytes);
  // An estimate in cycles: 3 for a line of pixels, 20 for a line of output.
  const int64_t cycles =
      (plan.pixels * 3 * int64_t{sizeof(T)} + bins * 20 * bytes) *
      sizes.channels / 64;
  if (plan.layout == Layout::kDirect) {
    shard(rows, cycles / rows, sizes.pooled_width * int64_t{sizeof(Span)},
          [&](int64_t begin, int64_t end, uint8_t* cols) {
            PoolDirect(sizes, features, rois, pooled, argmax, path, row,
                       reinterpret_cast<Span*>(cols), begin, end);
            FinishStores();
          });
    return;
  }
  const int64_t slices = std::max(sizes.channels / kSliceChannels, int64_t{1});
  const Sweep sweep = SweepOf(sizes, rois, scratch);
  const int64_t slice_bytes = sizes.height * sizes.width *
                              WidestSlice(sizes.channels, slices) *
                              int64_t{sizeof(Wide<T>)};
  shard(slices * rows, cycles / (slices * rows), slice_bytes,
        [&](int64_t begin, int64_t end, uint8_t* packed) {
          PoolPacked(sizes, features, rois, pooled, argmax, path, row, sweep,
                     slices, reinterpret_cast<Wide<T>*>(packed), begin, end);
          FinishStores();
        });
}

namespace {

// Half types are added in float.
float ToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t ToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float Widen(float value) { return value; }
double Widen(double value) { return value; }
float Widen(Bfloat16 value) { return ToFloat(uint32_t{value.bits} << 16); }
float Widen(Half value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t rest = value.bits & 0x7fffu;
  if (rest < 0x400) return ToFloat(sign | ToBits(rest * 0x1p-24f));
  return ToFloat(sign |
                 ((rest << 13) + (rest < 0x7c00 ? 0x38000000 : 0x70000000)));
}

// Rounds to nearest, half to even.
void Round(float value, float* to) { *to = value; }
void Round(double value, double* to) { *to = value; }
void Round(float value, Bfloat16* to) {
  const uint32_t bits = ToBits(value);
  to->bits = value != value ? (bits >> 16) | 0x40
                            : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}
void Round(float value, Half* to) {
  const uint32_t sign = (ToBits(value) >> 16) & 0x8000;
  const uint32_t rest = ToBits(value) & 0x7fffffff;
  uint32_t half;
  if (rest > 0x7f800000) {
    half = 0x7e00;
  } else if (rest >= 0x477ff000) {
    half = 0x7c00;
  } else if (rest < 0x38800000) {
    // The sum has an ulp of 2^-24, the smallest half: it rounds.
    half = ToBits(ToFloat(rest) + 0.5f) - ToBits(0.5f);
  } else {
    half = (rest - 0x38000000 + 0xfff + ((rest >> 13) & 1)) >> 13;
  }
  to->bits = sign | half;
}

constexpr int64_t kGradChannels = 32;  // of a slice
constexpr int64_t kAhead = 16;  // bins, that the memory has time to answer

template <typename T>
void Prefetch(const T* gradient, const int32_t* argmax, int64_t channels) {
  for (int64_t c = 0; c < channels; c += 16) {
    __builtin_prefetch(gradient + c);
    __builtin_prefetch(argmax + c);
  }
}

// Some channels of one image, regions in their order: the sums do
// not depend on the threads. kChannels: known to the compiler, or 0.
template <int64_t kChannels, typename T>
bool Scatter(const Sizes& sizes, const T* gradient, const int32_t* argmax,
             const float* rois, int64_t image, int64_t first, int64_t count,
             Wide<T>* sums) {
  const int64_t channels = kChannels == 0 ? count : kChannels;
  const auto pixels = static_cast<uint32_t>(sizes.height * sizes.width);
  const int64_t bins = sizes.pooled_height * sizes.pooled_width;
  bool good = true;
  for (int64_t n = 0; n < sizes.num_rois; ++n) {
    if (static_cast<int64_t>(rois[n * 5]) != image) continue;
    for (int64_t bin = n * bins; bin < (n + 1) * bins; ++bin) {
      const T* from = gradient + bin * sizes.channels + first;
      const int32_t* where = argmax + bin * sizes.channels + first;
      if (bin + kAhead < sizes.num_rois * bins) {
        const int64_t ahead = kAhead * sizes.channels;
        Prefetch(from + ahead, where + ahead, channels);
      }
      for (int64_t c = 0; c < channels; ++c) {
        const auto pixel = static_cast<uint32_t>(where[c]);
        if (pixel < pixels) {
          sums[pixel * channels + c] += Widen(from[c]);
        } else {
          good &= where[c] == -1;
        }
      }
    }
  }
  return good;
}

}  // namespace

// No two threads add to the same element.
template <typename T>
bool PoolGrad(const Sizes& sizes, const T* gradient, const int32_t* argmax,
              const float* rois, T* features, const Shard& shard) {
  const int64_t pixels = sizes.height * sizes.width;
  if (pixels == 0) return false;
  if (sizes.batch * sizes.channels == 0) return true;
  const int64_t widest = std::clamp<int64_t>(
      kSlice / int64_t{sizeof(Wide<T>)} / pixels, 1, kGradChannels);
  const int64_t slices = (sizes.channels + widest - 1) / widest;
  const int64_t bins =
      sizes.num_rois * sizes.pooled_height * sizes.pooled_width;
  std::atomic<bool> good = true;
  shard(sizes.batch * slices, (2 * pixels + 2 * bins / sizes.batch) * widest,
        pixels * widest * int64_t{sizeof(Wide<T>)},
        [&](int64_t begin, int64_t end, uint8_t* scratch) {
          auto* sums = reinterpret_cast<Wide<T>*>(scratch);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t image = i / slices, first = i % slices * widest;
            const int64_t channels = std::min(widest, sizes.channels - first);
            std::fill_n(sums, pixels * channels, 0);
            const auto scatter = channels == kGradChannels
                                     ? Scatter<kGradChannels, T>
                                     : Scatter<0, T>;
            if (!scatter(sizes, gradient, argmax, rois, image, first, channels,
                         sums)) {
              good = false;
            }
            T* to = features + image * pixels * sizes.channels + first;
            for (int64_t pixel = 0; pixel < pixels; ++pixel) {
              for (int64_t c = 0; c < channels; ++c) {
                Round(sums[pixel * channels + c],
                      &to[pixel * sizes.channels + c]);
              }
            }
          }
        });
  return good;
}

#define OP_BY_OP_INSTANTIATE(T)                                                \
  template Path<T> FindPath(const char*);                                      \
  template void Pool(const Sizes&, const T*, const float*, T*, int32_t*,       \
                     const Path<T>&, const Plan&, uint8_t*, const Shard&);     \
  template Plan PlanOf<T>(const Sizes&, const float*, Layout);                 \
  template bool PoolGrad(const Sizes&, const T*, const int32_t*, const float*, \
                         T*, const Shard&);
OP_BY_OP_INSTANTIATE(Half)
OP_BY_OP_INSTANTIATE(Bfloat16)
OP_BY_OP_INSTANTIATE(float)
OP_BY_OP_INSTANTIATE(double)

}  // namespace op_by_op
