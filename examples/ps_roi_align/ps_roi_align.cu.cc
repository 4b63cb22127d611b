// The loops of the GPU: plain CUDA, and nothing of TensorFlow.

#include "ps_roi_align.h"

#include <algorithm>
#include <cstdint>

#include "../common/cuda_launch.h"
#include "ps_roi_align_gpu.h"

namespace op_by_op {
namespace {

// Each thread has elements of its own, neighbours at neighbouring
// places.
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
    align.template At<1>(i / channels, i % channels);
  }
}

// One channel of a row of the map: no two threads add to the same.
template <typename T>
__global__ void AlignGradKernel(AlignGrad<T> grad, int64_t total) {
  const Sizes& sizes = grad.bins.sizes;
  const int64_t step = sizes.bins() * sizes.channels;
  for (int64_t i = FirstElement(); i < total; i += Step()) {
    const int64_t row = i / step, channel = i % step;
    const int64_t first = row * sizes.width * step + channel;
    const int64_t end = first + sizes.width * step;
    for (int64_t k = first; k < end; k += step) grad.sums[k] = 0;
    const int64_t bins = sizes.num_rois * sizes.bins();
    for (int64_t bin = channel / sizes.channels; bin < bins;
         bin += sizes.bins()) {
      if (grad.Reaches(bin, row)) {
        grad.template Add<1>(bin, row, channel % sizes.channels);
      }
    }
    if constexpr (!std::is_same_v<T, Wide<T>>) {
      for (int64_t k = first; k < end; k += step) {
        grad.output[k] = static_cast<T>(grad.sums[k]);
      }
    }
  }
}

// `kernel` for `total` elements.
template <typename Task>
const char* LaunchFor(void (*kernel)(Task, int64_t), const Task& task,
                      int64_t total, void* stream) {
  constexpr int64_t kThreads = 256, kMostBlocks = 1 << 20;
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
  return LaunchFor(AlignGradKernel<T>, grad,
                   sizes.batch * sizes.height * sizes.bins() * sizes.channels,
                   stream);
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
