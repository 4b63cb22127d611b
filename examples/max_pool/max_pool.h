// The windows of a pooling, the loop over one of them, and the kernel that
// shares them out among threads.

#ifndef OP_BY_OP_EXAMPLES_MAX_POOL_MAX_POOL_H_
#define OP_BY_OP_EXAMPLES_MAX_POOL_MAX_POOL_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/padding.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {

// The windows along one axis. What lies outside of the input is left
// out.
struct Axis {
  int64_t size, window, stride, windows, padding;

  int64_t Begin(int64_t i) const {
    return std::max<int64_t>(i * stride - padding, 0);
  }
  int64_t End(int64_t i) const {
    return std::min(i * stride - padding + window, size);
  }

  // [reach] The windows that reach any of the positions first to last - 1.
  int64_t FirstThatReaches(int64_t first) const {
    const int64_t before = first + padding - window;
    return before < 0 ? 0 : before / stride + 1;
  }
  int64_t EndOfThoseThatReach(int64_t last) const {
    return std::min((last - 1 + padding) / stride + 1, windows);
  }
  // How much of a window lies inside, at most. It may be much larger than the
  // input.
  int64_t Most() const { return std::min(window, size); }
};

// One window: its pixels, and where its image and its output begin.
struct Window {
  int64_t begin_h, end_h, begin_w, end_w, image, output;

  int64_t Pixels() const { return (end_h - begin_h) * (end_w - begin_w); }
};

struct Windows {  // of a whole input
  int64_t batch, channels;
  Axis rows, columns;

  tensorflow::TensorShape Pooled() const {
    return {batch, rows.windows, columns.windows, channels};
  }
  Window At(int64_t image, int64_t row, int64_t column) const {
    return {
        rows.Begin(row),
        rows.End(row),
        columns.Begin(column),
        columns.End(column),
        image * rows.size * columns.size * channels,
        ((image * rows.windows + row) * columns.windows + column) * channels};
  }
  // Where a pixel of an image begins.
  int64_t Pixel(int64_t h, int64_t w) const {
    return (h * columns.size + w) * channels;
  }
  // How many numbers the windows of a row have, at most.
  int64_t RowNumbers() const {
    return columns.windows * channels * rows.Most() * columns.Most();
  }
};

// The attrs that all ops of the chapter have. `Context`: that of the shape
// function or of the kernel.
class Attrs {
 public:
  template <typename Context>
  absl::Status Read(Context* context) {
    TF_RETURN_IF_ERROR(context->GetAttr("padding", &padding_));
    TF_RETURN_IF_ERROR(ReadSizes(context, "ksize", &ksize_));
    return ReadSizes(context, "strides", &strides_);
  }

  bool KeepsSize(int axis) const {
    return padding_ == tensorflow::SAME && strides_[axis] == 1;
  }

  // Whether a byte can count the pixels of a window.
  bool FitByte() const { return int64_t{ksize_[1]} * ksize_[2] <= 256; }

  // How many windows fit, as in TensorFlow's kernels.
  absl::Status Along(const char* name, int axis, int64_t size,
                     Axis* found) const {
    *found = {size, ksize_[axis], strides_[axis], 0, 0};
    if (padding_ == tensorflow::VALID && found->window > size) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " must have at least ", found->window,
          axis == 1 ? " rows" : " columns",
          ", as many as the window, with VALID padding, got ", size));
    }
    int64_t behind;
    return tensorflow::GetWindowedOutputSizeVerbose(
        size, found->window, /*dilation_rate=*/1, found->stride, padding_,
        &found->windows, &found->padding, &behind);
  }

  // Of an input of this shape.
  absl::Status Of(const char* name, const tensorflow::TensorShape& input,
                  Windows* found) const {
    if (input.dims() != 4) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " must have shape [batch, height, width, channels], got shape ",
          input.DebugString()));
    }
    found->batch = input.dim_size(0);
    found->channels = input.dim_size(3);
    TF_RETURN_IF_ERROR(Along(name, 1, input.dim_size(1), &found->rows));
    TF_RETURN_IF_ERROR(Along(name, 2, input.dim_size(2), &found->columns));
    // The kernels count pixels in 32 bits.
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (found->columns.size > 0 &&
        found->rows.size > kMost / found->columns.size) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " must have at most ", kMost,
                       " pixels in an image, got shape ", input.DebugString()));
    }
    return absl::OkStatus();
  }

 private:
  template <typename Context>
  static absl::Status ReadSizes(Context* context, const char* name,
                                std::vector<int32_t>* sizes) {
    TF_RETURN_IF_ERROR(context->GetAttr(name, sizes));
    if (sizes->size() != 4 ||
        *std::min_element(sizes->begin(), sizes->end()) <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " must be 4 positive numbers, got [",
                       absl::StrJoin(*sizes, ", "), "]"));
    }
    if (sizes->front() != 1 || sizes->back() != 1) {
      return absl::UnimplementedError(
          absl::StrCat(name, " must be 1 for the batch and the channels, got [",
                       absl::StrJoin(*sizes, ", "), "]"));
    }
    return absl::OkStatus();
  }

  std::vector<int32_t> ksize_, strides_;
  tensorflow::Padding padding_;
};

// The shape [batch, height, width, channels]: two dimensions change.
inline absl::Status InferPooled(
    tensorflow::shape_inference::InferenceContext* context, const char* name,
    tensorflow::shape_inference::ShapeHandle input,
    tensorflow::shape_inference::ShapeHandle* pooled) {
  Attrs attrs;
  TF_RETURN_IF_ERROR(attrs.Read(context));
  TF_RETURN_IF_ERROR(context->WithRank(input, 4, pooled));
  for (int axis : {1, 2}) {
    auto size = context->Dim(*pooled, axis);
    if (context->ValueKnown(size)) {
      Axis windows;
      TF_RETURN_IF_ERROR(
          attrs.Along(name, axis, context->Value(size), &windows));
      size = context->MakeDim(windows.windows);
    } else if (!attrs.KeepsSize(axis)) {
      size = context->UnknownDim();
    }
    TF_RETURN_IF_ERROR(context->ReplaceDim(*pooled, axis, size, pooled));
  }
  return absl::OkStatus();
}

// The shape function of the ops that pool.
inline absl::Status PoolShape(
    tensorflow::shape_inference::InferenceContext* context) {
  tensorflow::shape_inference::ShapeHandle pooled;
  TF_RETURN_IF_ERROR(InferPooled(context, "input", context->input(0), &pooled));
  for (int i = 0; i < context->num_outputs(); ++i) {
    context->set_output(i, pooled);
  }
  return absl::OkStatus();
}

// [rule] Of equal numbers the first one stays, and NaN replaces none.
struct Larger {
  template <typename T>
  static T Start() {
    return Eigen::NumTraits<T>::lowest();
  }
  template <typename T>
  static T Of(T best, T x) {
    if (best < x) best = x;
    return best;
  }
};

// The best numbers of one window, in all channels.
template <typename Rule, typename T>
void PoolWindowPlainly(const Windows& windows, const Window& window,
                       int64_t channels, const T* image, T* y) {
  std::fill_n(y, channels, Rule::template Start<T>());
  for (int64_t h = window.begin_h; h < window.end_h; ++h) {
    for (int64_t w = window.begin_w; w < window.end_w; ++w) {
      const T* x = image + windows.Pixel(h, w);
      for (int64_t k = 0; k < channels; ++k) y[k] = Rule::Of(y[k], x[k]);
    }
  }
}

// How many neighbouring channels a window takes at a time: as many as fit into
// registers.
template <typename T>
constexpr int kLanes = sizeof(T) == 8 ? 128 : 256;

// What is compared: float, which holds each bfloat16 exactly, in its place.
template <typename T>
using Compared =
    std::conditional_t<std::is_same_v<T, Eigen::bfloat16>, float, T>;

template <typename Rule, typename T, typename Lanes>
void PoolWindow(const Windows& windows, const Window& window, Lanes lanes,
                const T* image, T* y) {
  // The best numbers of one window, in some channels: `lanes` of them.
  Compared<T> best[kLanes<T>];
  // + makes an int of a std::integral_constant.
  std::fill_n(best, +lanes, Compared<T>(Rule::template Start<T>()));
  // A do-while tells GCC 12 that the loops run at least once, so it does not
  // store `best` first.
  int64_t h = window.begin_h;
  do {
    const T* x = image + windows.Pixel(h, window.begin_w);
    const T* end = image + windows.Pixel(h, window.end_w);
    do {
      for (int k = 0; k < lanes; ++k) {
        best[k] = Rule::Of(best[k], Compared<T>(x[k]));
      }
      x += windows.channels;
    } while (x != end);
  } while (++h != window.end_h);
  for (int k = 0; k < lanes; ++k) y[k] = T(best[k]);
}

// Calls work(lanes, c) for all channels: lanes of them, from c on.
// The lanes are a constant except for the last. GCC 12 makes no vectors of 16.
template <typename T, typename Work>
void ForChannels(int64_t channels, const Work& work) {
  int64_t c = 0;
  const auto blocks = [&](auto lanes) {
    for (; c + lanes <= channels; c += lanes) work(lanes, c);
  };
  blocks(std::integral_constant<int, kLanes<T>>());
  blocks(std::integral_constant<int, kLanes<T> / 4 * 3>());
  blocks(std::integral_constant<int, kLanes<T> / 2>());
  blocks(std::integral_constant<int, kLanes<T> / 4>());
  blocks(std::integral_constant<int, 32>());
  blocks(std::integral_constant<int, 16>());
  if (c < channels) work(static_cast<int>(channels - c), c);
}

// Calls work(begin, end) for blocks of rows; a row takes `cycles`.
template <typename Work>
void ShardRows(tensorflow::OpKernelContext* context, int64_t rows,
               int64_t cycles, const Work& work) {
  const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(workers.num_threads, workers.workers, rows, cycles,
                    [&](int64_t begin, int64_t end) {
                      const tsl::port::ScopedDontFlushDenormal keep;
                      work(begin, end);
                    });
}

// Calls work(window) for all windows of row i, those of all images counted on.
template <typename Work>
void ForRow(const Windows& windows, int64_t i, const Work& work) {
  const int64_t image = i / windows.rows.windows;
  const int64_t row = i % windows.rows.windows;
  for (int64_t column = 0; column < windows.columns.windows; ++column) {
    work(windows.At(image, row, column));
  }
}

// Calls work(), with all that it calls compiled for the widest vectors
// that the processor has.
#if defined(__x86_64__)
template <typename Work>
__attribute__((target("avx2"), flatten)) void RunAvx2(const Work& work) {
  work();
}
template <typename Work>
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), flatten)) void
RunAvx512(const Work& work) {
  work();
}
#endif

template <typename Work>
void RunWide(const Work& work) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return RunAvx512(work);
  }
  if (__builtin_cpu_supports("avx2")) return RunAvx2(work);
#endif
  work();
}

// Threads share the rows of windows of all images; each number of a window
// takes `cycles`. Calls work(i) for all rows.
template <typename Work>
void ShardRowsOfWindows(tensorflow::OpKernelContext* context,
                        const Windows& windows, double cycles,
                        const Work& work) {
  ShardRows(context, windows.batch * windows.rows.windows,
            static_cast<int64_t>(cycles * windows.RowNumbers()),
            [&](int64_t begin, int64_t end) {
              RunWide([&] {
                for (int64_t i = begin; i < end; ++i) work(i);
              });
            });
}

// Calls work(window) for all windows.
template <typename Work>
void ShardWindows(tensorflow::OpKernelContext* context, const Windows& windows,
                  double cycles, const Work& work) {
  ShardRowsOfWindows(context, windows, cycles,
                     [&](int64_t i) { ForRow(windows, i, work); });
}

// Calls work(window, lanes, c) for all windows and all channels.
template <typename T, typename Work>
void ShardBlocks(tensorflow::OpKernelContext* context, const Windows& windows,
                 double cycles, const Work& work) {
  ShardRowsOfWindows(context, windows, cycles, [&](int64_t i) {
    ForChannels<T>(windows.channels, [&](auto lanes, int64_t c) {
      ForRow(windows, i, [&](const Window& window) { work(window, lanes, c); });
    });
  });
}

template <typename Rule, typename T>
void Pool(tensorflow::OpKernelContext* context, const Windows& windows,
          const T* x, T* y) {
  // Wider pixels are read whole, in the order of memory.
  if (sizeof(T) > 2 && windows.channels > kLanes<T>) {
    ShardWindows(context, windows, 0.125, [&](const Window& window) {
      PoolWindowPlainly<Rule>(windows, window, windows.channels,
                              x + window.image, y + window.output);
    });
    return;
  }
  ShardBlocks<T>(context, windows, 0.125,
                 [&](const Window& window, auto lanes, int64_t c) {
                   PoolWindow<Rule>(windows, window, lanes,
                                    x + window.image + c,
                                    y + window.output + c);
                 });
}

template <typename Rule, typename T>
class PoolOp : public tensorflow::OpKernel {
 public:
  explicit PoolOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("input", input.shape(), &windows));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, windows.Pooled(), &output));
    if (output->NumElements() == 0) return;

    Pool<Rule>(context, windows, input.flat<T>().data(),
               output->flat<T>().data());
  }

 private:
  Attrs attrs_;
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_MAX_POOL_MAX_POOL_H_
