// The gradient: each element is added to the pixel that its maximum came from.

#include <algorithm>
#include <atomic>

#include "roi_pool_cpu.h"
#include "roi_pool_half.h"

namespace op_by_op {
namespace {

// Half types are added in float.
float Widen(float value) { return value; }
double Widen(double value) { return value; }
float Widen(Bfloat16 value) {
  return Bfloat16ToFloat<float>(uint32_t{value.bits});
}
float Widen(Half value) { return HalfToFloat<float>(uint32_t{value.bits}); }

void Round(float value, float* to) { *to = value; }
void Round(double value, double* to) { *to = value; }
void Round(float value, Bfloat16* to) {
  to->bits = FloatToBfloat16<uint32_t>(value);
}
void Round(float value, Half* to) { to->bits = FloatToHalf<uint32_t>(value); }

constexpr int64_t kSlice = int64_t{1} << 26;  // the most bytes of sums
constexpr int64_t kGradChannels = 32;         // of a slice
constexpr int64_t kAhead = 16;  // bins, so that the memory has time to answer

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
bool Scatter(const PoolingGrad<T>& call, int64_t image, int64_t first,
             int64_t count, Wide<T>* sums) {
  const Sizes& sizes = call.sizes;
  const int64_t channels = kChannels == 0 ? count : kChannels;
  const auto pixels = static_cast<uint32_t>(sizes.height * sizes.width);
  const int64_t bins = sizes.pooled_height * sizes.pooled_width;
  bool good = true;
  for (int64_t n = 0; n < sizes.num_rois; ++n) {
    if (static_cast<int64_t>(call.rois[n * 5]) != image) continue;
    for (int64_t bin = n * bins; bin < (n + 1) * bins; ++bin) {
      const T* from = call.gradient + bin * sizes.channels + first;
      const int32_t* where = call.argmax + bin * sizes.channels + first;
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
bool PoolGrad(const PoolingGrad<T>& call, const Shard& shard) {
  const Sizes& sizes = call.sizes;
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
            if (!scatter(call, image, first, channels, sums)) good = false;
            T* to = call.features + image * pixels * sizes.channels + first;
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

#define OP_BY_OP_INSTANTIATE(T) \
  template bool PoolGrad(const PoolingGrad<T>&, const Shard&);
OP_BY_OP_INSTANTIATE(Half)
OP_BY_OP_INSTANTIATE(Bfloat16)
OP_BY_OP_INSTANTIATE(float)
OP_BY_OP_INSTANTIATE(double)

}  // namespace op_by_op
