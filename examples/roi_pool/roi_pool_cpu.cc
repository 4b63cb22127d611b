// Which instructions, which layout, which threads: how a call is done.

#include "roi_pool_cpu.h"

#include <algorithm>

#include "roi_pool_sweep.h"
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace op_by_op {

// [dispatch] What the processor has, asked once.
template <typename T>
Path<T> FindPath() {
#if defined(__x86_64__)
  static const bool has_avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx512) return avx512::GetPath<T>();
  if (has_avx2) return avx2::GetPath<T>();
#endif
  return baseline::GetPath<T>();
}

void FinishStores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

namespace {

// An output that is at least this large is written past the caches: no line of
// it is read from memory only to be overwritten.
constexpr int64_t kStreamedBytes = int64_t{1} << 22;

// Bytes of an image that stay in the L2 cache: a copy gains nothing. Packing
// also converts the half types, once: that pays for nearly all.
template <typename T>
constexpr int64_t kNear = int64_t{1} << (sizeof(T) == 2 ? 16 : 21);

// How often a pixel is read, by the estimate below, before a copy of the map
// pays: measured with 256 channels, it lost at 4 and won at 10.
constexpr int64_t kReads = 8;

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

template <typename T>
int64_t OutputBytes(const Pooling<T>& call) {
  const Sizes& sizes = call.sizes;
  const int64_t bytes =
      sizeof(T) + (call.argmax == nullptr ? 0 : sizeof(int32_t));
  return sizes.num_rois * sizes.pooled_height * sizes.pooled_width *
         sizes.channels * bytes;
}

// The rows of bins from begin to before end, from the map as it lies.
template <typename T>
void PoolDirect(const Pooling<T>& call, const Path<T>& path, BinRow row,
                Span* cols, int64_t begin, int64_t end) {
  const Sizes& sizes = call.sizes;
  row.cols = cols;
  for (int64_t i = begin; i < end; ++i) {
    const float* roi = call.rois + i / sizes.pooled_height * 5;
    const int64_t p = i % sizes.pooled_height;
    if (p == 0 || i == begin) Columns(sizes, roi, cols);
    row.rows = Rows(sizes, roi, p);
    const int64_t out = i * sizes.pooled_width * sizes.channels;
    path.pool(row, ImageOf(sizes, call.features, roi), call.pooled + out,
              call.argmax == nullptr ? nullptr : call.argmax + out);
  }
}

}  // namespace

// A map of which much is read more than once is read by the sweep.
template <typename T>
Plan PlanOf(const Pooling<T>& call) {
  const Sizes& sizes = call.sizes;
  const int64_t pixels = PixelsToRead(sizes, call.rois);
  const int64_t map = sizes.height * sizes.width;
  const bool packed = SlicesFit<T>(sizes) &&
                      pixels >= kReads * sizes.batch * map &&
                      map * sizes.channels * int64_t{sizeof(T)} > kNear<T>;
  return {packed, packed ? SweepBytes(sizes) : 0,
          OutputBytes(call) >= kStreamedBytes, pixels};
}

template <typename T>
BinRow BinRowOf(const Pooling<T>& call, const Plan& plan) {
  const Sizes& sizes = call.sizes;
  BinRow row{};
  row.width = sizes.width;
  row.image_size = sizes.height * sizes.width * sizes.channels;
  row.pixel_stride = row.bin_stride = row.channels = sizes.channels;
  row.bins = sizes.pooled_width;
  row.streaming = plan.streams;
  return row;
}

template <typename T>
void Pool(const Pooling<T>& call, const Path<T>& path, const Plan& plan,
          uint8_t* scratch, const Shard& shard) {
  const Sizes& sizes = call.sizes;
  const int64_t rows = sizes.num_rois * sizes.pooled_height;
  const BinRow row = BinRowOf(call, plan);
  // An estimate: 3 cycles for a line of pixels, 20 for a line of output.
  const int64_t cycles =
      (plan.pixels * sizes.channels * 3 * int64_t{sizeof(T)} +
       OutputBytes(call) * 20) /
      64;
  if (plan.packed) {
    const Sweep sweep = SweepOf(sizes, call.rois, scratch);
    PoolSweep(call, path, row, sweep, cycles, shard);
    return;
  }
  shard(rows, cycles / rows, sizes.pooled_width * int64_t{sizeof(Span)},
        [&](int64_t begin, int64_t end, uint8_t* cols) {
          PoolDirect(call, path, row, reinterpret_cast<Span*>(cols), begin,
                     end);
          FinishStores();
        });
}

#define OP_BY_OP_INSTANTIATE(T)                                                \
  template Path<T> FindPath();                                                 \
  template Plan PlanOf(const Pooling<T>&);                                     \
  template BinRow BinRowOf(const Pooling<T>&, const Plan&);                    \
  template void Pool(const Pooling<T>&, const Path<T>&, const Plan&, uint8_t*, \
                     const Shard&);
OP_BY_OP_INSTANTIATE(Half)
OP_BY_OP_INSTANTIATE(Bfloat16)
OP_BY_OP_INSTANTIATE(float)
OP_BY_OP_INSTANTIATE(double)

}  // namespace op_by_op
