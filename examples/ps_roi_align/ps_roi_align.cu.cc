// The loops of the GPU: plain CUDA, and nothing of TensorFlow.

#include "ps_roi_align.h"

#include <algorithm>
#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "../common/cuda_launch.h"
#include "ps_roi_align_gpu.h"

namespace op_by_op {
namespace {

constexpr int kThreads = 256;  // of a block
constexpr int64_t kMostBlocks = 1 << 20;

// Each thread has its own elements; neighbours have neighbouring ones.
__device__ inline int64_t FirstElement() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline int64_t Step() { return int64_t{gridDim.x} * blockDim.x; }

template <typename W>
__global__ void FillKernel(Weights<W> bins, int64_t total) {
  for (int64_t i = FirstElement(); i < total; i += Step()) bins.Fill(i);
}

// One element after the other.
template <typename T>
__global__ void AlignKernel(Align<T> align, int64_t total) {
  const int64_t channels = align.bins.sizes.channels;
  for (int64_t i = FirstElement(); i < total; i += Step()) {
    align.template At<1>(align.bins.sizes.BinAt(i / channels), i % channels);
  }
}

// A row of bins of a region, of which a row of the map gets a share.
template <typename W>
struct Giver {
  int64_t region;
  W weight;  // of the row
};

constexpr int kEach = 4;    // regions that a thread looks at
constexpr int kPixels = 8;  // of a row, that a thread adds up at once
constexpr int kMostGivers = 2 * kThreads * kEach;

template <typename T>
__device__ Wide<T> RowWeight(const AlignGrad<T>& grad, int64_t region,
                             int64_t p, int64_t image, int64_t y) {
  const auto& bins = grad.bins;
  if (double{bins.rois[region * 5]} != image) return 0;
  const int64_t slot = bins.RowSlot({region, p, 0});
  const Span rows = bins.spans[slot];
  if (y < rows.first || y >= rows.first + rows.count) return 0;
  return bins.weights[slot * bins.sizes.most_pixels + y - rows.first];
}

// What kPixels pixels from column x on get in one channel of a bin: `from` is
// its gradient in the first region.
template <typename T>
__device__ void AddPixels(const AlignGrad<T>& grad, const Giver<Wide<T>>* giver,
                          const Giver<Wide<T>>* end, int64_t column, int32_t x,
                          const T* from, Wide<T> (&sums)[kPixels]) {
  const auto& bins = grad.bins;
  const int64_t step = bins.sizes.bins() * bins.sizes.channels;
  for (; giver != end; ++giver) {
    const int64_t slot = bins.ColumnSlot({giver->region, 0, column});
    const Span cols = bins.spans[slot];
    const int32_t first = x - cols.first;  // of the pixels, in the span
    if (first + kPixels <= 0 || first >= cols.count) continue;
    const auto given = static_cast<Wide<T>>(from[giver->region * step]);
    const Wide<T>* weights = bins.weights + slot * bins.sizes.most_pixels;
#pragma unroll
    for (int k = 0; k < kPixels; ++k) {
      if (first + k < 0 || first + k >= cols.count) continue;
      const Wide<T> weight = giver->weight * weights[first + k];
      if (weight != 0) sums[k] += weight * given;
    }
  }
}

// A block has a row of the map and, of each region, a row of bins. It lists
// the regions that reach the row, in their order. Then a thread adds up what
// one channel of a few pixels gets: no two threads add to the same.
template <typename T>
__global__ void __launch_bounds__(kThreads, 4)
    AlignGradKernel(AlignGrad<T> grad, int64_t total) {
  using W = Wide<T>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ Giver<W> givers[kMostGivers];
  const Sizes& sizes = grad.bins.sizes;
  const int64_t step = sizes.bins() * sizes.channels;  // to the next pixel
  const int64_t wide = sizes.pooled_width * sizes.channels;
  for (int64_t i = blockIdx.x; i < total; i += gridDim.x) {
    const int64_t row = i / sizes.pooled_height, p = i % sizes.pooled_height;
    const int64_t image = row / sizes.height, y = row % sizes.height;
    int64_t seen = 0;  // of the regions
    do {
      const bool is_first = seen == 0;
      int count = 0;
      while (seen < sizes.num_rois && count <= kMostGivers - kThreads * kEach) {
        const int64_t region = seen + threadIdx.x * kEach;
        W weights[kEach];
        int found = 0, place, all;
#pragma unroll
        for (int k = 0; k < kEach; ++k) {
          weights[k] = region + k < sizes.num_rois
                           ? RowWeight(grad, region + k, p, image, y)
                           : 0;
          found += weights[k] != 0;
        }
        Scan(storage).ExclusiveSum(found, place, all);
        place += count;
#pragma unroll
        for (int k = 0; k < kEach; ++k) {
          if (weights[k] != 0) givers[place++] = {region + k, weights[k]};
        }
        count += all;
        seen += kThreads * kEach;
        __syncthreads();  // before the list is read, the storage used again
      }
      const bool is_last = seen >= sizes.num_rois;
      for (int64_t j = threadIdx.x;; j += kThreads) {
        const int64_t x = j / wide * kPixels, channel = p * wide + j % wide;
        if (x >= sizes.width) break;
        const int64_t pixel = (row * sizes.width + x) * step + channel;
        W sums[kPixels];
#pragma unroll
        for (int k = 0; k < kPixels; ++k) {
          sums[k] = is_first || x + k >= sizes.width
                        ? 0
                        : grad.sums[pixel + k * step];
        }
        AddPixels(grad, givers, givers + count, j % wide / sizes.channels, x,
                  grad.gradient + channel, sums);
#pragma unroll
        for (int k = 0; k < kPixels; ++k) {
          if (x + k >= sizes.width) break;
          if (is_last) {
            grad.output[pixel + k * step] = static_cast<T>(sums[k]);
          } else {
            grad.sums[pixel + k * step] = sums[k];
          }
        }
      }
      __syncthreads();  // before the list is written again
    } while (seen < sizes.num_rois);
  }
}

// `kernel` for `total` elements.
template <typename Task>
const char* LaunchFor(void (*kernel)(Task, int64_t), const Task& task,
                      int64_t total, void* stream) {
  const int64_t blocks =
      std::min((total + kThreads - 1) / kThreads, kMostBlocks);
  return Launch(kernel, blocks, kThreads, 0, stream, task, total);
}

template <typename W>
const char* Fill(const Weights<W>& bins, void* stream) {
  const int64_t slots = bins.Slots(bins.sizes.num_rois);
  return slots == 0 ? nullptr : LaunchFor(FillKernel<W>, bins, slots, stream);
}

template <typename T>
const char* Run(void* stream, const void* task) {
  const auto& align = *static_cast<const Align<T>*>(task);
  const Sizes& sizes = align.bins.sizes;
  if (const char* error = Fill(align.bins, stream)) return error;
  return LaunchFor(AlignKernel<T>, align,
                   sizes.num_rois * sizes.bins() * sizes.channels, stream);
}

template <typename T>
const char* RunGrad(void* stream, const void* task) {
  const auto& grad = *static_cast<const AlignGrad<T>*>(task);
  const Sizes& sizes = grad.bins.sizes;
  if (const char* error = Fill(grad.bins, stream)) return error;
  const int64_t rows = sizes.batch * sizes.height * sizes.pooled_height;
  return Launch(AlignGradKernel<T>, std::min(rows, kMostBlocks), kThreads, 0,
                stream, grad, rows);
}

}  // namespace

extern "C" const char* PsRoiAlignLaunch(void* stream, int type,
                                        const void* align) {
  constexpr decltype(&Run<float>) kRuns[] = {Run<__half>, Run<__nv_bfloat16>,
                                             Run<float>, Run<double>};
  return kRuns[type](stream, align);
}

extern "C" const char* PsRoiAlignGradLaunch(void* stream, int type,
                                            const void* grad) {
  constexpr decltype(&RunGrad<float>) kRuns[] = {
      RunGrad<__half>, RunGrad<__nv_bfloat16>, RunGrad<float>, RunGrad<double>};
  return kRuns[type](stream, grad);
}

}  // namespace op_by_op
