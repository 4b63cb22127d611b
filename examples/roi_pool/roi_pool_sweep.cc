// The rows of bins of all regions are sorted by image and by their first row of
// the map. A thread takes some of them in this order, in a slice of 64 channels
// or more: it packs each row of the map when the first row of bins needs it,
// and the others find it packed.

#include "roi_pool_sweep.h"

#include <algorithm>

namespace op_by_op {
namespace {

constexpr int64_t kSliceChannels = 64;
constexpr int64_t kSlice = int64_t{1} << 26;  // the most bytes of one, packed

int64_t SlicesOf(const Sizes& sizes) {
  return std::max(sizes.channels / kSliceChannels, int64_t{1});
}

// The channels from Slice(i) to before Slice(i + 1) are packed together.
int64_t Slice(int64_t channels, int64_t slices, int64_t i) {
  return i == slices ? channels : channels * i / slices / 16 * 16;
}

int64_t WidestSlice(int64_t channels, int64_t slices) {
  return std::min(channels, channels / slices + 16);
}

template <typename E>
E* Take(uint8_t** scratch, int64_t count) {
  auto* first = reinterpret_cast<E*>(*scratch);
  *scratch += count * int64_t{sizeof(E)};
  return first;
}

// The items from begin to before end, numbered slice after slice. Pixels are
// packed as they are reached.
template <typename T>
void PoolPacked(const Pooling<T>& call, const Path<T>& path, BinRow row,
                const Sweep& sweep, Wide<T>* packed, int64_t begin,
                int64_t end) {
  const Sizes& sizes = call.sizes;
  const int64_t count = sizes.num_rois * sizes.pooled_height;
  const int64_t slices = SlicesOf(sizes);
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
      const Sweep::Item& item = sweep.items[i];
      const int64_t n = item.row / sizes.pooled_height;
      row.rows = item.rows;
      row.cols = &sweep.cols[n * sizes.pooled_width];
      const T* its = ImageOf(sizes, call.features, call.rois + n * 5);
      if (image != its) {
        image = its;
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
      path.pool_packed(row, packed, call.pooled + out,
                       call.argmax == nullptr ? nullptr : call.argmax + out);
    }
  }
}

}  // namespace

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

int64_t SweepBytes(const Sizes& sizes) {
  return (sizes.batch * (sizes.height + 1) + 1) * int64_t{sizeof(int64_t)} +
         sizes.num_rois * sizes.pooled_height *
             int64_t{2 * sizeof(Sweep::Item)} +
         sizes.num_rois * sizes.pooled_width * int64_t{sizeof(Span)};
}

Sweep SweepOf(const Sizes& sizes, const float* rois, uint8_t* scratch) {
  const int64_t count = sizes.num_rois * sizes.pooled_height;
  const int64_t keys = sizes.batch * (sizes.height + 1);
  auto* starts = Take<int64_t>(&scratch, keys + 1);
  std::fill_n(starts, keys + 1, 0);
  auto* items = Take<Sweep::Item>(&scratch, count);
  auto* sorted = Take<Sweep::Item>(&scratch, count);
  const auto key = [&](const Sweep::Item& item) {
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

template <typename T>
bool SlicesFit(const Sizes& sizes) {
  return sizes.height * sizes.width *
             std::min(sizes.channels, 2 * kSliceChannels) *
             int64_t{sizeof(Wide<T>)} <=
         kSlice;
}

template <typename T>
void PoolSweep(const Pooling<T>& call, const Path<T>& path, const BinRow& row,
               const Sweep& sweep, int64_t cycles, const Shard& shard) {
  const Sizes& sizes = call.sizes;
  const int64_t slices = SlicesOf(sizes);
  const int64_t items = slices * sizes.num_rois * sizes.pooled_height;
  const int64_t slice_bytes = sizes.height * sizes.width *
                              WidestSlice(sizes.channels, slices) *
                              int64_t{sizeof(Wide<T>)};
  shard(items, cycles / items, slice_bytes,
        [&](int64_t begin, int64_t end, uint8_t* packed) {
          PoolPacked(call, path, row, sweep, reinterpret_cast<Wide<T>*>(packed),
                     begin, end);
          FinishStores();
        });
}

#define OP_BY_OP_INSTANTIATE(T)                                             \
  template bool SlicesFit<T>(const Sizes&);                                 \
  template void PoolSweep(const Pooling<T>&, const Path<T>&, const BinRow&, \
                          const Sweep&, int64_t, const Shard&);
OP_BY_OP_INSTANTIATE(Half)
OP_BY_OP_INSTANTIATE(Bfloat16)
OP_BY_OP_INSTANTIATE(float)
OP_BY_OP_INSTANTIATE(double)

}  // namespace op_by_op
