#include "roi_pool_cpu.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace op_by_op {
namespace {

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t ToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// To a type that has comparison and addition.
float Load(float value) { return value; }
double Load(double value) { return value; }
float Load(Bfloat16 value) { return FromBits(uint32_t{value.bits} << 16); }
float Load(Half value) {
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  const uint32_t rest = value.bits & 0x7fffu;
  if (rest >= 0x7c00) return FromBits(sign | 0x7f800000 | (rest << 13));
  return FromBits(sign | ToBits(FromBits(rest << 13) * 0x1p112f));
}

// And back, rounding to nearest even.
void Store(float value, float* to) { *to = value; }
void Store(double value, double* to) { *to = value; }
void Store(float value, Bfloat16* to) {
  uint32_t bits = ToBits(value);
  if (value != value) {
    bits |= 0x400000;
  } else {
    bits += 0x7fff + ((bits >> 16) & 1);
  }
  to->bits = bits >> 16;
}
void Store(float value, Half* to) {
  const uint32_t bits = ToBits(value), sign = (bits >> 16) & 0x8000;
  const uint32_t rest = bits & 0x7fffffff;
  uint32_t half;
  if (rest > 0x7f800000) {
    half = 0x7e00 | ((rest >> 13) & 0x3ff);
  } else if (rest >= 0x477ff000) {
    half = 0x7c00;
  } else if (rest < 0x38800000) {
    // The sum has an ulp of 2^-24, the smallest half: it rounds for us.
    half = ToBits(FromBits(rest) + 0.5f) - ToBits(0.5f);
  } else {
    half = (rest - 0x38000000 + 0xfff + ((rest >> 13) & 1)) >> 13;
  }
  to->bits = sign | half;
}

template <typename T>
using Wide = decltype(Load(T()));

}  // namespace

// [plain] One output element after the other.
template <typename T>
void PoolPlain(const Sizes& sizes, const T* features, const float* rois,
               int64_t begin, int64_t end, T* pooled, int32_t* argmax) {
  const int64_t channels = sizes.channels;
  for (int64_t row = begin; row < end; ++row) {
    const float* roi = rois + row / sizes.pooled_height * 5;
    const T* image = features + static_cast<int64_t>(roi[0]) * sizes.height *
                                    sizes.width * channels;
    const Region region = RegionOf(roi, sizes.spatial_scale);
    const Span rows = BinSpan(row % sizes.pooled_height, sizes.pooled_height,
                              region.y, region.rows, sizes.height);
    for (int64_t p = 0; p < sizes.pooled_width; ++p) {
      const Span cols =
          BinSpan(p, sizes.pooled_width, region.x, region.cols, sizes.width);
      const bool empty = rows.begin >= rows.end || cols.begin >= cols.end;
      for (int64_t c = 0; c < channels; ++c) {
        auto best = -std::numeric_limits<Wide<T>>::infinity();
        int64_t where = rows.begin * sizes.width + cols.begin;
        if (empty) best = 0, where = -1;
        for (int64_t h = rows.begin; h < rows.end; ++h) {
          for (int64_t w = cols.begin; w < cols.end; ++w) {
            const auto value =
                Load(image[(h * sizes.width + w) * channels + c]);
            if (value > best) best = value, where = h * sizes.width + w;
          }
        }
        const int64_t out = (row * sizes.pooled_width + p) * channels + c;
        Store(best, &pooled[out]);
        if (argmax != nullptr) argmax[out] = where;
      }
    }
  }
}

// [gradient] Regions in their order: the sums do not depend on the threads.
template <typename T>
bool PoolGrad(const Sizes& sizes, const T* gradient, const int32_t* argmax,
              const float* rois, int64_t image, int64_t begin, int64_t end,
              T* features) {
  const int64_t channels = sizes.channels, pixels = sizes.height * sizes.width;
  const int64_t bins = sizes.pooled_height * sizes.pooled_width;
  const int64_t block = end - begin;
  std::vector<Wide<T>> sums(pixels * block);
  bool good = true;
  for (int64_t n = 0; n < sizes.num_rois; ++n) {
    if (static_cast<int64_t>(rois[n * 5]) != image) continue;
    for (int64_t bin = n * bins; bin < (n + 1) * bins; ++bin) {
      for (int64_t c = begin; c < end; ++c) {
        const int64_t where = argmax[bin * channels + c];
        if (where >= 0 && where < pixels) {
          sums[where * block + c - begin] += Load(gradient[bin * channels + c]);
        } else {
          good &= where == -1;
        }
      }
    }
  }
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    T* to = features + (image * pixels + pixel) * channels;
    for (int64_t c = begin; c < end; ++c) {
      Store(sums[pixel * block + c - begin], &to[c]);
    }
  }
  return good;
}

#define INSTANTIATE(T)                                                         \
  template void PoolPlain(const Sizes&, const T*, const float*, int64_t,       \
                          int64_t, T*, int32_t*);                              \
  template bool PoolGrad(const Sizes&, const T*, const int32_t*, const float*, \
                         int64_t, int64_t, int64_t, T*);
INSTANTIATE(Half)
INSTANTIATE(Bfloat16)
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace op_by_op
