// RoiPoolVariant: the kernels on the way to RoiPool's, and each of its paths by
// name, for measurements and tests.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "large_pages.h"
#include "roi_pool_check.h"
#include "roi_pool_cpu.h"
#include "roi_pool_plain.h"
#include "roi_pool_shard.h"
#include "roi_pool_sweep.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// [channels] One pixel after the other: the innermost loop runs over elements
// that lie side by side, which the compiler makes vectors of.
template <typename T>
void PoolChannels(const T* pixels, int64_t width, int64_t channels, Span rows,
                  Span cols, T* __restrict pooled, int32_t* __restrict argmax) {
  const int64_t first = rows.begin * width + cols.begin;
  std::fill_n(pooled, channels, -std::numeric_limits<T>::infinity());
  if (argmax != nullptr) std::fill_n(argmax, channels, first);
  for (int64_t h = rows.begin; h < rows.end; ++h) {
    for (int64_t w = cols.begin; w < cols.end; ++w) {
      const auto here = static_cast<int32_t>(h * width + w);
      const T* pixel = pixels + here * channels;
      if (argmax != nullptr) {
        for (int64_t c = 0; c < channels; ++c) {
          argmax[c] = pixel[c] > pooled[c] ? here : argmax[c];
        }
      }
      for (int64_t c = 0; c < channels; ++c) {
        pooled[c] = pixel[c] > pooled[c] ? pixel[c] : pooled[c];
      }
    }
  }
}

// [scatter] To the pixels of all images, one element after the other.
bool ScatterPlain(const Sizes& sizes, const float* gradient,
                  const int32_t* argmax, const float* rois, float* sums) {
  const auto pixels = static_cast<uint32_t>(sizes.height * sizes.width);
  const int64_t bins = sizes.pooled_height * sizes.pooled_width;
  bool good = true;
  for (int64_t i = 0; i < sizes.num_rois * bins; ++i) {
    const auto image = static_cast<int64_t>(rois[i / bins * 5]);
    for (int64_t c = 0; c < sizes.channels; ++c) {
      const int32_t where = argmax[i * sizes.channels + c];
      const auto pixel = static_cast<uint32_t>(where);
      if (pixel < pixels) {
        sums[(image * pixels + pixel) * sizes.channels + c] +=
            gradient[i * sizes.channels + c];
      } else {
        good &= where == -1;
      }
    }
  }
  return good;
}

// The path of this name, or null functions where this processor lacks it.
template <typename T>
Path<T> PathOf(const std::string& name) {
  if (name == "best") return FindPath<T>();
  if (name == "baseline") return baseline::GetPath<T>();
#if defined(__x86_64__)
  if (name == "avx2" && __builtin_cpu_supports("avx2")) {
    return avx2::GetPath<T>();
  }
  if (name == "avx512" && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return avx512::GetPath<T>();
  }
#endif
  return {};
}

// RoiPool's plan, except for how the map is read.
template <typename T>
Plan PlanWith(const Pooling<T>& call, bool packed) {
  Plan plan = PlanOf(call);
  plan.packed = packed;
  plan.scratch_bytes = packed ? SweepBytes(call.sizes) : 0;
  return plan;
}

// The sweep without its copy: some channels of all rows of bins.
template <typename T>
void PoolSorted(const Pooling<T>& call, const Path<T>& path, const Plan& plan,
                uint8_t* scratch, const Shard& shard) {
  const Sizes& sizes = call.sizes;
  const Sweep sweep = SweepOf(sizes, call.rois, scratch);
  const int64_t count = sizes.num_rois * sizes.pooled_height;
  const int64_t slices = std::max<int64_t>(sizes.channels / 64, 1);
  const BinRow row = BinRowOf(call, plan);
  shard(slices * count, 64 * 100, 0, [&](int64_t begin, int64_t end, uint8_t*) {
    BinRow own = row;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = i / count;
      const Sweep::Item& item = sweep.items[i % count];
      const int64_t n = item.row / sizes.pooled_height;
      const int64_t c = sizes.channels * slice / slices;
      own.channels = sizes.channels * (slice + 1) / slices - c;
      own.image_size = row.image_size - c;
      own.rows = item.rows;
      own.cols = &sweep.cols[n * sizes.pooled_width];
      const T* image = ImageOf(sizes, call.features, call.rois + n * 5);
      const int64_t out = item.row * sizes.pooled_width * sizes.channels + c;
      path.pool(own, image + c, call.pooled + out,
                call.argmax == nullptr ? nullptr : call.argmax + out);
    }
    FinishStores();
  });
}

REGISTER_OP("RoiPoolVariant")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Attr("spatial_scale: float")
    .Attr("kernel: {'best', 'plain', 'channels', 'direct', 'sorted', 'packed'}")
    .Attr("path: {'best', 'baseline', 'avx2', 'avx512'} = 'best'")
    .Attr("with_argmax: bool = true")
    .Attr("stores: {'best', 'ordinary'} = 'best'")
    .Attr("large_pages: bool = true")
    .Input("features: T")
    .Input("rois: float")
    .Output("pooled: T")
    .Output("argmax: int32")
    .SetShapeFn(tensorflow::shape_inference::UnknownShape)
    .Doc(R"doc(
RoiPool by a kernel of one's choice. Without an argmax, that output is empty.
stores: How a large output is written: past the caches, as RoiPool does, or not.
large_pages: Whether to ask for large pages.
)doc");

template <typename T>
class RoiPoolVariantOp : public tensorflow::OpKernel {
 public:
  explicit RoiPoolVariantOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
    OP_REQUIRES_OK(context, context->GetAttr("kernel", &kernel_));
    OP_REQUIRES_OK(context, context->GetAttr("with_argmax", &with_argmax_));
    OP_REQUIRES_OK(context, context->GetAttr("stores", &stores_));
    OP_REQUIRES_OK(context, context->GetAttr("large_pages", &large_pages_));
    std::string path;
    OP_REQUIRES_OK(context, context->GetAttr("path", &path));
    path_ = PathOf<B>(path);
    OP_REQUIRES(
        context, path_.pool != nullptr,
        absl::UnimplementedError(absl::StrCat("this processor has no ", path)));
    OP_REQUIRES(
        context,
        std::is_floating_point_v<B> ||
            (kernel_ != "plain" && kernel_ != "channels"),
        absl::UnimplementedError(absl::StrCat(
            "kernel ", kernel_, " is there for float and double only")));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    Sizes sizes = attrs_;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadShapes(context, &sizes, &shape));
    const auto* features =
        reinterpret_cast<const B*>(context->input(0).flat<T>().data());
    const float* rois = context->input(1).flat<float>().data();
    OP_REQUIRES_OK(context, CheckRois(rois, sizes));
    tensorflow::Tensor *values = nullptr, *where = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &values));
    if (large_pages_) AdviseLargePages(*values);
    OP_REQUIRES_OK(
        context,
        context->allocate_output(
            1, with_argmax_ ? shape : tensorflow::TensorShape({0}), &where));
    if (large_pages_) AdviseLargePages(*where);
    auto* pooled = reinterpret_cast<B*>(values->flat<T>().data());
    int32_t* argmax = with_argmax_ ? where->flat<int32_t>().data() : nullptr;
    if (shape.num_elements() == 0) return;
    if (kernel_ != "plain" && kernel_ != "channels") {
      const Pooling<B> call{sizes, features, rois, pooled, argmax};
      Plan plan = kernel_ == "best" ? PlanOf(call)
                                    : PlanWith(call, kernel_ != "direct");
      if (stores_ == "ordinary") plan.streams = false;
      tensorflow::Tensor scratch;
      OP_REQUIRES_OK(context, context->allocate_temp(
                                  tensorflow::DT_UINT8,
                                  tensorflow::TensorShape({plan.scratch_bytes}),
                                  &scratch));
      const auto pool = kernel_ == "sorted" ? PoolSorted<B> : Pool<B>;
      absl::Status status;
      pool(call, path_, plan, scratch.flat<uint8_t>().data(),
           ShardOn(context, &status));
      OP_REQUIRES_OK(context, status);
      return;
    }
    if constexpr (std::is_floating_point_v<B>) {
      const auto pool = kernel_ == "plain" ? PoolPlain<B> : PoolChannels<B>;
      const int64_t bins =
          sizes.num_rois * sizes.pooled_height * sizes.pooled_width;
      absl::Status status;
      ShardOn(context, &status)(bins, sizes.channels * 100, 0,
                                [&](int64_t begin, int64_t end, uint8_t*) {
                                  PoolBins(sizes, features, rois, pooled,
                                           argmax, pool, begin, end);
                                });
      OP_REQUIRES_OK(context, status);
    }
  }

 private:
  using B = typename Bits<T>::type;
  Sizes attrs_{};
  std::string kernel_, stores_;
  bool with_argmax_ = true, large_pages_ = true;
  Path<B> path_{};
};

#define REGISTER_ROI_POOL_VARIANT(T)                          \
  REGISTER_KERNEL_BUILDER(Name("RoiPoolVariant")              \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          RoiPoolVariantOp<T>)
REGISTER_ROI_POOL_VARIANT(Eigen::half);
REGISTER_ROI_POOL_VARIANT(tensorflow::bfloat16);
REGISTER_ROI_POOL_VARIANT(float);
REGISTER_ROI_POOL_VARIANT(double);

}  // namespace

// The plain gradient, for a test: `sums` are zero before.
extern "C" __attribute__((visibility("default"))) bool AddPlain(
    const Sizes* sizes, const float* gradient, const int32_t* argmax,
    const float* rois, float* sums) {
  return ScatterPlain(*sizes, gradient, argmax, rois, sums);
}

// Only the last row of bins, of an output that nobody could allocate.
extern "C" __attribute__((visibility("default"))) void PoolLastRow(
    const Sizes* sizes, const float* features, const float* rois, float* pooled,
    int32_t* argmax, bool packed) {
  const int64_t rows = sizes->num_rois * sizes->pooled_height;
  const Pooling<float> call{*sizes, features, rois, pooled, argmax};
  const Plan plan = PlanWith(call, packed);
  std::vector<uint8_t> scratch(plan.scratch_bytes);
  Pool<float>(call, FindPath<float>(), plan, scratch.data(),
              [rows](int64_t total, int64_t, int64_t bytes, const Work& work) {
                std::vector<uint8_t> own(bytes);
                for (int64_t i = rows; i <= total; i += rows) {
                  work(i - 1, i, own.data());
                }
              });
}

}  // namespace op_by_op
