// PsRoiAlign: the mean of every bin of every region, each bin in channels of
// its own.

#include "ps_roi_align.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "for_each.h"
#include "ps_roi_align_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The channels of the features, divided among the bins.
absl::Status InferPooled(InferenceContext* context, ShapeHandle features,
                         ShapeHandle* pooled) {
  Sizes sizes;
  TF_RETURN_IF_ERROR(ReadAttrs(context, &sizes));
  ShapeHandle rois;
  TF_RETURN_IF_ERROR(context->WithRank(features, 4, &features));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &rois));
  DimensionHandle five, channels;
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(rois, 1), 5, &five));
  const DimensionHandle all = context->Dim(features, 3);
  TF_RETURN_IF_ERROR(CheckMap(context->Value(context->Dim(features, 1)),
                              context->Value(context->Dim(features, 2)),
                              context->Value(all), sizes));
  TF_RETURN_IF_ERROR(context->Divide(
      all, context->MakeDim(sizes.pooled_height * sizes.pooled_width),
      /*evenly_divisible=*/true, &channels));
  *pooled = context->MakeShape(
      {context->Dim(rois, 0), context->MakeDim(sizes.pooled_height),
       context->MakeDim(sizes.pooled_width), channels});
  return absl::OkStatus();
}

// [interface] As torchvision's ps_roi_align, but NHWC, and with the channels of
// a bin side by side, where torchvision has the bins of a channel.
REGISTER_OP("PsRoiAlign")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Attr("spatial_scale: float = 1.0")
    .Attr("sampling_ratio: int = -1")
    .Input("features: T")
    .Input("rois: float")
    .Output("pooled: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle pooled;
      TF_RETURN_IF_ERROR(InferPooled(context, context->input(0), &pooled));
      context->set_output(0, pooled);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Cuts each region into bins and takes the mean of each, in channels of its own.

features: `[batch, height, width, pooled_height * pooled_width * channels]`: the
  channels of the first bin, then those of the next one in its row.
rois: `[num_rois, 5]`: batch index, x1, y1, x2, y2, in pixels of the image.
pooled: `[num_rois, pooled_height, pooled_width, channels]`.
spatial_scale: Pixels of the map for each pixel of the image.
sampling_ratio: Samples of a bin along each axis; one per pixel if not positive.
)doc");

// Its gradient has the shape that feature_shape says.
REGISTER_OP("PsRoiAlignGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Attr("spatial_scale: float = 1.0")
    .Attr("sampling_ratio: int = -1")
    .Input("gradient: T")
    .Input("rois: float")
    .Input("feature_shape: int32")
    .Output("features_gradient: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle features, pooled, gradient;
      TF_RETURN_IF_ERROR(context->MakeShapeFromShapeTensor(2, &features));
      TF_RETURN_IF_ERROR(context->WithRank(features, 4, &features));
      TF_RETURN_IF_ERROR(InferPooled(context, features, &pooled));
      TF_RETURN_IF_ERROR(context->Merge(context->input(0), pooled, &gradient));
      context->set_output(0, features);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Gives each pixel its share of the gradients of the bins that it counts in.

gradient: `[num_rois, pooled_height, pooled_width, channels]`.
rois: As PsRoiAlign was given them.
feature_shape: The shape of the features.
features_gradient: Of shape feature_shape.
pooled_height: As PsRoiAlign was given it, like the other attrs.
pooled_width: As PsRoiAlign was given it.
spatial_scale: As PsRoiAlign was given it.
sampling_ratio: As PsRoiAlign was given it.
)doc");

// Their values, in the memory of the host.
absl::Status CheckRois(const float* rois, const Sizes& sizes) {
  for (int64_t n = 0; n < sizes.num_rois; ++n) {
    if (!IsUsable(rois + n * 5, sizes.batch)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rois[", n, "] must be a batch index in [0, ", sizes.batch,
          ") and four finite coordinates, got [",
          absl::StrJoin(rois + n * 5, rois + n * 5 + 5, ", "), "]"));
    }
  }
  return absl::OkStatus();
}

// All channels of a bin, as many at once as fit into registers.
template <int kLanes = 16, typename At>
void ForChannels(int64_t c, int64_t channels, const At& at) {
  for (; c + kLanes <= channels; c += kLanes) {
    at(std::integral_constant<int, kLanes>(), c);
  }
  if constexpr (kLanes > 1) ForChannels<kLanes / 2>(c, channels, at);
}

// Asks for pages of 2 MiB. The C library maps new memory for each tensor of
// more than 32 MiB, and the first write to each page of 4 KiB is a page fault:
// large pages have 512 times fewer. The system may decline.
void AdviseLargePages([[maybe_unused]] void* data,
                      [[maybe_unused]] int64_t bytes) {
#if defined(__linux__)
  if (bytes < int64_t{1} << 25) return;
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t last = (begin + bytes) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

// Cycles for a slot of weights, and for a bin besides its additions.
constexpr int64_t kSlotCycles = 200, kBinCycles = 200;

// What the CPU finds out about the regions before it allocates.
struct Cpu {
  static absl::Status Plan(const float* rois, Sizes* sizes, int64_t* pixels) {
    TF_RETURN_IF_ERROR(CheckRois(rois, *sizes));
    sizes->most_pixels = 1;
    *pixels = 0;
    const auto along = [&](const float* corners, int64_t bins, int64_t limit) {
      const Samples<float> samples(corners[0], corners[2], sizes->spatial_scale,
                                   bins, 0, 1);
      const auto size = static_cast<int64_t>(std::fabs(samples.bin));
      const int64_t most = std::min(size + 3, std::max(limit, int64_t{1}));
      sizes->most_pixels = std::max(sizes->most_pixels, most);
      return most;
    };
    for (int64_t n = 0; n < sizes->num_rois; ++n, rois += 5) {
      *pixels += along(rois + 1, sizes->pooled_width, sizes->width) *
                 along(rois + 2, sizes->pooled_height, sizes->height);
    }
    return absl::OkStatus();
  }

  // [loop] A unit of work is a region: its slots, and then its bins.
  template <typename T>
  static absl::Status Run(OpKernelContext* context, const Align<T>& align,
                          int64_t pixels) {
    const Sizes& sizes = align.bins.sizes;
    const int64_t slots = align.bins.Slots(1), bins = sizes.bins();
    const int64_t cycles = slots * kSlotCycles + bins * kBinCycles +
                           2 * pixels / sizes.num_rois * bins * sizes.channels;
    ForEachInTurns(context, sizes.num_rois, cycles, [&](int64_t n) {
      for (int64_t i = n * slots; i < (n + 1) * slots; ++i) align.bins.Fill(i);
      for (int64_t i = n * bins; i < (n + 1) * bins; ++i) {
        const Bin bin = sizes.BinAt(i);
        ForChannels(0, sizes.channels, [&](auto lanes, int64_t c) {
          align.template At<lanes>(bin, c);
        });
      }
    });
    return absl::OkStatus();
  }

  // Here a unit of work is a slot, and then a row of the map.
  template <typename T>
  static absl::Status RunGrad(OpKernelContext* context,
                              const AlignGrad<T>& grad, int64_t pixels) {
    const Sizes& sizes = grad.bins.sizes;
    ForEachInTurns(context, grad.bins.Slots(sizes.num_rois), kSlotCycles,
                   [&](int64_t i) { grad.bins.Fill(i); });
    const int64_t size = sizes.width * sizes.bins() * sizes.channels;
    const int64_t rows = sizes.batch * sizes.height;
    AdviseLargePages(grad.sums, rows * size * sizeof(*grad.sums));
    AdviseLargePages(grad.output, rows * size * sizeof(*grad.output));
    const int64_t cycles =
        size + 2 * pixels * sizes.bins() * sizes.channels / rows;
    // [rows] No two threads add to the same row of the map.
    ForEachInTurns(context, rows, cycles, [&](int64_t row) {
      std::fill_n(grad.sums + row * size, size, Wide<T>{0});
      for (int64_t n = 0; n < sizes.num_rois; ++n) {
        for (int64_t p = 0; p < sizes.pooled_height; ++p) {
          if (!grad.Reaches({n, p, 0}, row)) continue;  // nor its neighbours
          for (int64_t q = 0; q < sizes.pooled_width; ++q) {
            ForChannels(0, sizes.channels, [&](auto lanes, int64_t c) {
              grad.template Add<lanes>({n, p, q}, row, c);
            });
          }
        }
      }
      if (std::is_same_v<T, Wide<T>>) return;
      for (int64_t i = row * size; i < (row + 1) * size; ++i) {
        grad.output[i] = static_cast<T>(grad.sums[i]);
      }
    });
    return absl::OkStatus();
  }
};

// One line for each type.
#define REGISTER_PS_ROI_ALIGN(T)                              \
  REGISTER_KERNEL_BUILDER(Name("PsRoiAlign")                  \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          PsRoiAlignOp<Cpu, T>);              \
  REGISTER_KERNEL_BUILDER(Name("PsRoiAlignGrad")              \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          PsRoiAlignGradOp<Cpu, T>)
REGISTER_PS_ROI_ALIGN(Eigen::half);
REGISTER_PS_ROI_ALIGN(tensorflow::bfloat16);
REGISTER_PS_ROI_ALIGN(float);
REGISTER_PS_ROI_ALIGN(double);

}  // namespace
}  // namespace op_by_op
