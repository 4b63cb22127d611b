// PsRoiAlign one channel at a time: kernels with the labels "plain", on one
// thread, and "shared", which the test compares with the one that ships.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "for_each.h"
#include "ps_roi_align.h"
#include "ps_roi_align_op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

// Of pixel `k` of a slot, counted from the first that has a weight.
float Weight(const Weights<float>& bins, int64_t slot, int32_t k) {
  return bins.weights[slot * bins.sizes.most_pixels + k];
}

// Of pixel `y`, `x` of the map, in channel `c` of a bin.
float Feature(const Align<float>& align, Bin bin, int32_t y, int32_t x,
              int64_t c) {
  const Sizes& sizes = align.bins.sizes;
  const auto image = static_cast<int64_t>(align.bins.rois[bin.region * 5]);
  const int64_t pixel = (image * sizes.height + y) * sizes.width + x;
  return align.features[pixel * sizes.bins() * sizes.channels +
                        sizes.FirstChannel(bin) + c];
}

// [at] The mean of bin `i` in channel `c`.
void At(const Align<float>& align, int64_t i, int64_t c) {
  const Weights<float>& bins = align.bins;
  const Bin bin = bins.sizes.BinAt(i);
  const int64_t row_slot = bins.RowSlot(bin), col_slot = bins.ColumnSlot(bin);
  const Span rows = bins.spans[row_slot], cols = bins.spans[col_slot];
  float sum = 0;
  for (int32_t y = 0; y < rows.count; ++y) {
    for (int32_t x = 0; x < cols.count; ++x) {
      sum += Weight(bins, row_slot, y) * Weight(bins, col_slot, x) *
             Feature(align, bin, rows.first + y, cols.first + x, c);
    }
  }
  align.pooled[i * bins.sizes.channels + c] = sum;
}

// Without a look at the regions: a slot has room for a side of the map.
struct Plain {
  static absl::Status Plan(const float*, Sizes* sizes, int64_t*) {
    sizes->most_pixels = std::max({sizes->height, sizes->width, int64_t{1}});
    return absl::OkStatus();
  }

  template <typename T>
  static absl::Status Run(tensorflow::OpKernelContext*, const Align<T>& align,
                          int64_t) {
    const Sizes& sizes = align.bins.sizes;
    // [bins] First the weights, then one bin after the other.
    const tsl::port::ScopedDontFlushDenormal keep;
    for (int64_t slot = 0; slot < align.bins.Slots(sizes.num_rois); ++slot) {
      align.bins.Fill(slot);
    }
    for (int64_t i = 0; i < sizes.num_rois * sizes.bins(); ++i) {
      for (int64_t c = 0; c < sizes.channels; ++c) At(align, i, c);
    }
    return absl::OkStatus();
  }
};

// The same loops on all cores.
struct Shared : Plain {
  template <typename T>
  static absl::Status Run(tensorflow::OpKernelContext* context,
                          const Align<T>& align, int64_t) {
    const Sizes& sizes = align.bins.sizes;
    // [shared] The threads share the slots, and then the bins.
    ForEach(context, align.bins.Slots(sizes.num_rois), 200,
            [&](int64_t slot) { align.bins.Fill(slot); });
    ForEach(context, sizes.num_rois * sizes.bins(), 100 * sizes.channels,
            [&](int64_t i) {
              for (int64_t c = 0; c < sizes.channels; ++c) At(align, i, c);
            });
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("PsRoiAlign")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T")
                            .Label("plain"),
                        PsRoiAlignOp<Plain, float>);
REGISTER_KERNEL_BUILDER(Name("PsRoiAlign")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T")
                            .Label("shared"),
                        PsRoiAlignOp<Shared, float>);

}  // namespace
}  // namespace op_by_op
