// OpByOp>Conv2D and its two gradients: products of matrices, one of which is
// made of patches of the images.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

using tensorflow::DEVICE_CPU;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// How the windows lie, rows before columns: checked once for all.
constexpr int64_t kLargest = 1 << 24;  // a product of two is far from 2^63

struct Layout {
  std::vector<int64_t> strides, dilations, explicit_paddings;
  tensorflow::Padding padding;

  template <typename Context>  // of a kernel's constructor, or of shapes
  absl::Status Read(Context* context) {
    std::string name;
    TF_RETURN_IF_ERROR(context->GetAttr("strides", &strides));
    TF_RETURN_IF_ERROR(context->GetAttr("dilations", &dilations));
    TF_RETURN_IF_ERROR(
        context->GetAttr("explicit_paddings", &explicit_paddings));
    TF_RETURN_IF_ERROR(context->GetAttr("padding", &name));
    padding = name == "SAME"    ? tensorflow::SAME
              : name == "VALID" ? tensorflow::VALID
                                : tensorflow::EXPLICIT;
    const size_t count = padding == tensorflow::EXPLICIT ? 4 : 0;
    if (explicit_paddings.size() != count) {
      return absl::InvalidArgumentError(absl::StrCat(
          "explicit_paddings must have ", count, " numbers when padding is ",
          name, ", got ", explicit_paddings.size()));
    }
    TF_RETURN_IF_ERROR(Check("strides", strides, 2, 1));
    TF_RETURN_IF_ERROR(Check("dilations", dilations, 2, 1));
    return Check("explicit_paddings", explicit_paddings, count, 0);
  }

  static absl::Status Check(const std::string& name,
                            const std::vector<int64_t>& numbers, size_t count,
                            int64_t least) {
    for (int64_t number : numbers) {
      if (number < least || number > kLargest) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, " must be from ", least, " to ", kLargest, ", got ", number));
      }
    }
    if (numbers.size() == count) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        name, " must have ", count, " numbers, got ", numbers.size()));
  }

  // Before and after the image; of rows if side is 0, of columns if it is 1.
  int64_t explicit_padding(int side, bool after) const {
    return padding == tensorflow::EXPLICIT ? explicit_paddings[2 * side + after]
                                           : 0;
  }
};

// [output] The shape of conv2d(x, filter).
absl::Status OutputShape(InferenceContext* context, ShapeHandle x,
                         ShapeHandle filter, ShapeHandle* output) {
  Layout layout;
  TF_RETURN_IF_ERROR(layout.Read(context));
  TF_RETURN_IF_ERROR(context->WithRank(x, 4, &x));
  TF_RETURN_IF_ERROR(context->WithRank(filter, 4, &filter));
  DimensionHandle channels, rows, columns;
  TF_RETURN_IF_ERROR(
      context->Merge(context->Dim(x, 3), context->Dim(filter, 2), &channels));
  DimensionHandle* windows[] = {&rows, &columns};
  for (int side : {0, 1}) {
    const DimensionHandle taps = context->Dim(filter, side);
    if (context->ValueKnown(taps) && context->Value(taps) == 0) {
      return absl::InvalidArgumentError(
          "filter must have at least one row and one column");
    }
    TF_RETURN_IF_ERROR(
        tensorflow::shape_inference::GetWindowedOutputSizeFromDimsV2(
            context, context->Dim(x, 1 + side), taps, layout.dilations[side],
            layout.strides[side], layout.padding,
            layout.explicit_padding(side, false),
            layout.explicit_padding(side, true), windows[side]));
  }
  *output = context->MakeShape(
      {context->Dim(x, 0), rows, columns, context->Dim(filter, 3)});
  return absl::OkStatus();
}

// That of Conv2D itself.
absl::Status Conv2DShape(InferenceContext* context) {
  ShapeHandle y;
  TF_RETURN_IF_ERROR(
      OutputShape(context, context->input(0), context->input(1), &y));
  context->set_output(0, y);
  return absl::OkStatus();
}

// [shape] Of both gradients, which have three inputs.
template <int sizes>  // the input that is a shape: 0 for dx, 1 for dfilter
absl::Status BackpropShape(InferenceContext* context) {
  ShapeHandle shapes[] = {context->input(0), context->input(1)}, y;
  TF_RETURN_IF_ERROR(context->MakeShapeFromShapeTensor(sizes, &shapes[sizes]));
  TF_RETURN_IF_ERROR(OutputShape(context, shapes[0], shapes[1], &y));
  TF_RETURN_IF_ERROR(context->Merge(y, context->input(2), &y));
  TF_RETURN_IF_ERROR(context->WithRank(shapes[sizes], 4, &shapes[sizes]));
  context->set_output(0, shapes[sizes]);
  return absl::OkStatus();
}

// The same for all three.
constexpr char kDoc[] = R"doc(
Images are [batch, rows, columns, channels], a filter is [rows, columns, channels, filters].

strides: From one window to the next, for rows and for columns.
dilations: From one element of a window to the next, likewise.
padding: 'SAME', 'VALID', or 'EXPLICIT', which needs the next one.
explicit_paddings: Zeros above, below, left and right of the image.
)doc";

// [interface] The attrs are also those of the gradients.
#define ATTRS                                         \
  Attr("T: {half, bfloat16, float, double}")          \
      .Attr("strides: list(int) = [1, 1]")            \
      .Attr("dilations: list(int) = [1, 1]")          \
      .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}") \
      .Attr("explicit_paddings: list(int) = []")

REGISTER_OP("OpByOp>Conv2D")
    .ATTRS.Input("x: T")
    .Input("filter: T")
    .Output("y: T")
    .SetShapeFn(Conv2DShape)
    .Doc(absl::StrCat("Convolves images.\n", kDoc));

// [gradients] The shape of what an op does not get is an input.
REGISTER_OP("OpByOp>Conv2DBackpropInput")
    .ATTRS.Input("x_sizes: int32")
    .Input("filter: T")
    .Input("dy: T")
    .Output("dx: T")
    .SetShapeFn(BackpropShape<0>)
    .Doc(absl::StrCat("The gradient of Conv2D for its images.\n", kDoc));

REGISTER_OP("OpByOp>Conv2DBackpropFilter")
    .ATTRS.Input("x: T")
    .Input("filter_sizes: int32")
    .Input("dy: T")
    .Output("dfilter: T")
    .SetShapeFn(BackpropShape<1>)
    .Doc(absl::StrCat("The gradient of Conv2D for its filter.\n", kDoc));

// [side] The windows along the rows or the columns of an image.
struct Side {
  int64_t size, taps, stride, dilation, before, windows;

  // The pixel under the first element of a window.
  int64_t Pixel(int64_t window) const { return window * stride - before; }

  // Which elements of a window lie on the image, if the first is at this pixel.
  std::pair<int64_t, int64_t> Inside(int64_t pixel) const {
    const auto steps = [this](int64_t to) {
      return to > 0 ? (to + dilation - 1) / dilation : 0;
    };
    return {std::min(taps, steps(-pixel)), std::min(taps, steps(size - pixel))};
  }
};

// The same rule as for shapes, for sizes that are known.
absl::Status MakeSide(const Layout& layout, int side, const TensorShape& x,
                      const TensorShape& filter, Side* made) {
  *made = {x.dim_size(1 + side),
           filter.dim_size(side),
           layout.strides[side],
           layout.dilations[side],
           layout.explicit_padding(side, false),
           0};
  int64_t after = layout.explicit_padding(side, true);
  if (made->taps < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("filter must have at least one row and one column, got ",
                     filter.DebugString()));
  }
  if (made->size > kLargest || made->taps > kLargest) {
    return absl::InvalidArgumentError(absl::StrCat(
        "x (or x_sizes) and filter (or filter_sizes) must have at most ",
        kLargest, " rows and columns, got ", x.DebugString(), " and ",
        filter.DebugString()));
  }
  const int64_t reach = (made->taps - 1) * made->dilation + 1;
  if (layout.padding != tensorflow::SAME &&
      made->before + made->size + after < reach) {
    return absl::InvalidArgumentError(
        absl::StrCat("x must be as large as the filter, got ", made->size,
                     side == 0 ? " rows" : " columns",
                     " and a filter that reaches over ", reach));
  }
  TF_RETURN_IF_ERROR(tensorflow::GetWindowedOutputSizeVerbose(
      made->size, made->taps, made->dilation, made->stride, layout.padding,
      &made->windows, &made->before, &after));
  if (made->before + made->size + after > kLargest) {
    return absl::InvalidArgumentError(
        absl::StrCat("x must have at most ", kLargest,
                     " rows and columns with its padding"));
  }
  return absl::OkStatus();
}

// [windows] All windows of a batch of images, one after the other, each with a
// patch of pixels.
struct Windows {
  static constexpr int64_t kBeside = -1;

  Side rows, columns;
  int64_t images, channels;

  int64_t count() const { return images * rows.windows * columns.windows; }
  int64_t patch() const { return rows.taps * columns.taps * channels; }

  // Whether each pixel is a patch of its own.
  bool are_pixels() const {
    return rows.taps * columns.taps * rows.stride * columns.stride == 1 &&
           count() == images * rows.size * columns.size;
  }

  // [runs] Calls run(place in the patches, place in the images, how many
  // numbers) for what lies in one piece in both, or beside the image.
  template <typename Run>
  void ForEachRun(int64_t begin, int64_t end, const Run& run) const {
    int64_t patch = 0;  // where a row of it begins
    const auto beside = [&](int64_t from, int64_t to) {
      if (from < to)
        run(patch + from * channels, kBeside, (to - from) * channels);
    };
    for (int64_t window = begin; window < end; ++window) {
      const int64_t row = window / columns.windows;
      const int64_t image = row / rows.windows;
      const int64_t top = rows.Pixel(row % rows.windows);
      const int64_t left = columns.Pixel(window % columns.windows);
      const auto [first, last] = columns.Inside(left);
      const int64_t together = columns.dilation == 1 ? last - first : 1;
      for (int64_t i = 0; i < rows.taps; ++i) {
        const int64_t y = top + i * rows.dilation;
        if (y < 0 || y >= rows.size) {
          beside(0, columns.taps);
        } else {
          const int64_t line = (image * rows.size + y) * columns.size;
          beside(0, first);
          for (int64_t j = first; j < last; j += together) {
            run(patch + j * channels,
                (line + left + j * columns.dilation) * channels,
                together * channels);
          }
          beside(last, columns.taps);
        }
        patch += columns.taps * channels;
      }
    }
  }
};

// [patches] The patches of some windows as the rows of a matrix.
template <typename T>
const T* TakePatches(const Windows& windows, int64_t begin, int64_t end,
                     const T* x, T* memory) {
  if (windows.are_pixels()) return x + begin * windows.patch();
  windows.ForEachRun(begin, end,
                     [&](int64_t patch, int64_t pixel, int64_t size) {
                       if (pixel == Windows::kBeside) {
                         std::fill_n(memory + patch, size, T(0));
                       } else {
                         std::copy_n(x + pixel, size, memory + patch);
                       }
                     });
  return memory;
}

// [add] The way back.
template <typename T>
void AddPatches(const Windows& windows, int64_t begin, int64_t end,
                const T* dpatches, T* dx) {
  windows.ForEachRun(begin, end,
                     [&](int64_t patch, int64_t pixel, int64_t size) {
                       if (pixel == Windows::kBeside) return;
                       for (int64_t i = 0; i < size; ++i) {
                         dx[pixel + i] += dpatches[patch + i];
                       }
                     });
}

// Numbers in memory as a matrix, row by row.
template <typename T>
using Matrix =
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
Eigen::Map<Matrix<T>> AsMatrix(T* at, int64_t rows, int64_t columns) {
  return {at, rows, columns};
}

template <typename T>
Eigen::Map<const Matrix<T>> AsMatrix(const T* at, int64_t rows,
                                     int64_t columns) {
  return {at, rows, columns};
}

// [together] How many windows have their patches in memory at a time.
int64_t Together(const Windows& windows) {
  constexpr int64_t kWindows = 256, kNumbers = 1 << 22;
  return std::clamp<int64_t>(kNumbers / windows.patch(), 1,
                             std::min(kWindows, windows.count()));
}

int64_t DivideUp(int64_t all, int64_t by) { return (all + by - 1) / by; }

// [parts] Each thread has its own memory, and takes the next part until none is
// left. The parts do not depend on the number of threads, and so neither do the
// bits of the result.
template <typename T>
absl::Status ForEachPart(OpKernelContext* context, int64_t parts,
                         int64_t cycles, int64_t numbers,
                         const std::function<void(int64_t, T*)>& work) {
  const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
  const int64_t threads = std::min<int64_t>(parts, workers.num_threads);
  const int64_t apart = DivideUp(numbers, 64) * 64;  // share no cache line
  Tensor scratch;
  TF_RETURN_IF_ERROR(
      context->allocate_temp(tensorflow::DataTypeToEnum<T>::value,
                             TensorShape({threads, apart}), &scratch));
  std::atomic<int64_t> next = 0;
  const int64_t cost = std::min<int64_t>(cycles, 1 << 30);  // of a part
  tensorflow::Shard(workers.num_threads, workers.workers, threads,
                    cost * DivideUp(parts, threads),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t thread = begin; thread < end; ++thread) {
                        T* own = scratch.flat<T>().data() + thread * apart;
                        for (int64_t part; (part = next++) < parts;) {
                          work(part, own);
                        }
                      }
                    });
  return absl::OkStatus();
}

// Numbers of 16 bits are multiplied and added as floats.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, float, T>;

template <typename T>
absl::Status Widen(OpKernelContext* context, const Tensor& narrow,
                   Tensor* wide) {
  if constexpr (sizeof(T) != 2) {
    *wide = narrow;
  } else {
    TF_RETURN_IF_ERROR(
        context->allocate_temp(tensorflow::DT_FLOAT, narrow.shape(), wide));
    wide->flat<float>() = narrow.flat<T>().template cast<float>();
  }
  return absl::OkStatus();
}

// [base] What the three kernels have in common: attrs, shapes and checks.
template <typename T>
class Convolution : public tensorflow::OpKernel {
 public:
  // Of the inputs of an op, the one at `sizes` is a shape; none is if -1.
  Convolution(tensorflow::OpKernelConstruction* context, int sizes)
      : OpKernel(context), sizes_(sizes) {
    OP_REQUIRES_OK(context, layout_.Read(context));
  }

  void Compute(OpKernelContext* context) override {
    TensorShape shapes[] = {
        context->input(0).shape(), context->input(1).shape(), {}};
    if (sizes_ >= 0) {
      const absl::Status made = tensorflow::tensor::MakeShape(
          context->input(sizes_), &shapes[sizes_]);
      OP_REQUIRES(context, made.ok(),
                  absl::InvalidArgumentError(absl::StrCat(
                      sizes_ == 0 ? "x_sizes" : "filter_sizes",
                      " must be a vector of four sizes: ", made.message())));
    }
    Windows windows;
    OP_REQUIRES_OK(context, Measure(shapes, &windows));
    if (sizes_ >= 0) {
      OP_REQUIRES(context, context->input(2).shape() == shapes[2],
                  absl::InvalidArgumentError(absl::StrCat(
                      "dy must have the shape ", shapes[2].DebugString(),
                      " of the result for these ",
                      sizes_ == 0 ? "x_sizes" : "filter_sizes",
                      ", strides and dilations, got ",
                      context->input(2).shape().DebugString())));
    }
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, shapes[sizes_ < 0 ? 2 : sizes_], &output));
    bool empty = false;  // then there is nothing to sum
    for (const TensorShape& shape : shapes) {
      empty = empty || shape.num_elements() == 0;
    }
    if (empty) {
      auto all = output->flat<T>();
      std::fill_n(all.data(), all.size(), T(0));
      return;
    }
    // Tensors are inputs 1 and 2 for dx, 0 and 2 for dfilter, 0 and 1 for y.
    const int first = sizes_ == 0 ? 1 : 0, second = sizes_ < 0 ? 1 : 2;
    Tensor left, right, result = *output;
    OP_REQUIRES_OK(context, Widen<T>(context, context->input(first), &left));
    OP_REQUIRES_OK(context, Widen<T>(context, context->input(second), &right));
    if (sizeof(T) == 2) {
      OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                     output->shape(), &result));
    }
    OP_REQUIRES_OK(context, Multiply(context, windows, left, right, &result));
    if constexpr (sizeof(T) == 2) {
      output->flat<T>() = result.flat<float>().template cast<T>();
    }
  }

 protected:
  // Two of x, filter and dy, which are not empty; the result is of the third.
  virtual absl::Status Multiply(OpKernelContext* context,
                                const Windows& windows, const Tensor& left,
                                const Tensor& right, Tensor* result) = 0;

 private:
  // From the shapes of x and filter, that of the result.
  absl::Status Measure(TensorShape* shapes, Windows* windows) const {
    const TensorShape &x = shapes[0], &filter = shapes[1];
    if (x.dims() != 4 || filter.dims() != 4 ||
        x.dim_size(3) != filter.dim_size(2)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "x must be [batch, rows, columns, channels] and filter [rows, "
          "columns, channels, filters] with the same channels, got shapes ",
          x.DebugString(), " and ", filter.DebugString()));
    }
    windows->images = x.dim_size(0);
    windows->channels = x.dim_size(3);
    TF_RETURN_IF_ERROR(MakeSide(layout_, 0, x, filter, &windows->rows));
    TF_RETURN_IF_ERROR(MakeSide(layout_, 1, x, filter, &windows->columns));
    return TensorShape::BuildTensorShape(
        {x.dim_size(0), windows->rows.windows, windows->columns.windows,
         filter.dim_size(3)},
        &shapes[2]);
  }

  Layout layout_;
  int sizes_;
};

// [kernel] y = patches · filter
template <typename T>
class Conv2DOp : public Convolution<T> {
 public:
  explicit Conv2DOp(tensorflow::OpKernelConstruction* context)
      : Convolution<T>(context, -1) {}

 protected:
  absl::Status Multiply(OpKernelContext* context, const Windows& windows,
                        const Tensor& x, const Tensor& filter,
                        Tensor* y) override {
    using N = Wide<T>;
    const int64_t patch = windows.patch(), filters = filter.dim_size(3);
    const int64_t together = Together(windows);
    const auto weights = AsMatrix(filter.flat<N>().data(), patch, filters);
    return ForEachPart<N>(
        context, DivideUp(windows.count(), together),
        together * patch * filters, together * patch,
        [&](int64_t part, N* memory) {
          const int64_t begin = part * together;
          const int64_t end = std::min(begin + together, windows.count());
          const N* patches =
              TakePatches(windows, begin, end, x.flat<N>().data(), memory);
          N* results = y->flat<N>().data() + begin * filters;
          AsMatrix(results, end - begin, filters).noalias() =
              AsMatrix(patches, end - begin, patch) * weights;
        });
  }
};

// [bands] Calls work(begin, end, memory) for some windows at a time, until all
// are done. Windows with a common pixel are never with two threads at once.
template <typename T, typename Work>
absl::Status ForEachBand(OpKernelContext* context, const Windows& windows,
                         int64_t filters, const Work& work) {
  const Side &rows = windows.rows, &columns = windows.columns;
  const int64_t patch = windows.patch(), together = Together(windows);
  // With so many rows of windows, band b + 2 begins below the last pixel of
  // band b.
  const int64_t least = DivideUp((rows.taps - 1) * rows.dilation, rows.stride);
  const int64_t band =
      std::max({together / columns.windows, least, int64_t{1}});
  const int64_t bands = DivideUp(rows.windows, band);
  for (int64_t odd : {0, 1}) {
    const int64_t turn = (bands + 1 - odd) / 2;
    if (turn == 0) break;
    TF_RETURN_IF_ERROR(ForEachPart<T>(
        context, turn * windows.images, together * patch * filters,
        together * patch, [&](int64_t part, T* memory) {
          const int64_t image = part / turn * rows.windows;
          const int64_t row = (part % turn * 2 + odd) * band;
          const int64_t last =
              (image + std::min(row + band, rows.windows)) * columns.windows;
          for (int64_t begin = (image + row) * columns.windows, end;
               begin < last; begin = end) {
            end = std::min(begin + together, last);
            work(begin, end, memory);
          }
        }));
  }
  return absl::OkStatus();
}

// [input] dpatches = dy · filterᵀ, which is added to dx where patches came
// from.
template <typename T>
class Conv2DBackpropInputOp : public Convolution<T> {
 public:
  explicit Conv2DBackpropInputOp(tensorflow::OpKernelConstruction* context)
      : Convolution<T>(context, 0) {}

 protected:
  absl::Status Multiply(OpKernelContext* context, const Windows& windows,
                        const Tensor& filter, const Tensor& dy,
                        Tensor* dx) override {
    using N = Wide<T>;
    const int64_t patch = windows.patch(), filters = filter.dim_size(3);
    const auto weights = AsMatrix(filter.flat<N>().data(), patch, filters);
    dx->flat<N>().setZero();
    return ForEachBand<N>(
        context, windows, filters,
        [&](int64_t begin, int64_t end, N* dpatches) {
          const N* given = dy.flat<N>().data() + begin * filters;
          AsMatrix(dpatches, end - begin, patch).noalias() =
              AsMatrix(given, end - begin, filters) * weights.transpose();
          AddPatches(windows, begin, end, dpatches, dx->flat<N>().data());
        });
  }
};

// [shares] Calls work(begin, end, memory, sum) for some windows at a time. The
// windows have at most 16 sums, and fewer if they are large.
template <typename T, typename Work>
absl::Status SumOfShares(OpKernelContext* context, const Windows& windows,
                         int64_t filters, const Work& work, Tensor* total) {
  constexpr int64_t kSums = 16, kNumbers = 1 << 24;
  const int64_t patch = windows.patch(), size = patch * filters;
  const int64_t together = Together(windows), count = windows.count();
  const int64_t most = std::clamp<int64_t>(kNumbers / size, 4, kSums);
  const int64_t share = DivideUp(DivideUp(count, together), most) * together;
  const int64_t parts = DivideUp(count, share);
  Tensor sums;
  TF_RETURN_IF_ERROR(context->allocate_temp(total->dtype(),
                                            TensorShape({parts, size}), &sums));
  TF_RETURN_IF_ERROR(ForEachPart<T>(
      context, parts, share * size, together * patch,
      [&](int64_t part, T* memory) {
        T* sum = sums.flat<T>().data() + part * size;
        std::fill_n(sum, size, T(0));
        const int64_t last = std::min(count, (part + 1) * share);
        for (int64_t begin = part * share, end; begin < last; begin = end) {
          end = std::min(begin + together, last);
          work(begin, end, memory, sum);
        }
      }));
  total->flat<T>() = sums.matrix<T>().template chip<0>(0);
  for (int64_t part = 1; part < parts; ++part) {
    total->flat<T>() += sums.matrix<T>().template chip<0>(part);
  }
  return absl::OkStatus();
}

// [filter] dfilter = patchesᵀ · dy.
template <typename T>
class Conv2DBackpropFilterOp : public Convolution<T> {
 public:
  explicit Conv2DBackpropFilterOp(tensorflow::OpKernelConstruction* context)
      : Convolution<T>(context, 1) {}

 protected:
  absl::Status Multiply(OpKernelContext* context, const Windows& windows,
                        const Tensor& x, const Tensor& dy,
                        Tensor* dfilter) override {
    using N = Wide<T>;
    const int64_t patch = windows.patch(), filters = dy.dim_size(3);
    return SumOfShares<N>(
        context, windows, filters,
        [&](int64_t begin, int64_t end, N* memory, N* sum) {
          const N* patches =
              TakePatches(windows, begin, end, x.flat<N>().data(), memory);
          const N* given = dy.flat<N>().data() + begin * filters;
          AsMatrix(sum, patch, filters).noalias() +=
              AsMatrix(patches, end - begin, patch).transpose() *
              AsMatrix(given, end - begin, filters);
        },
        dfilter);
  }
};

// Four types of each.
#define REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("OpByOp>Conv2D").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      Conv2DOp<T>);                                                    \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>Conv2DBackpropInput")           \
                              .Device(DEVICE_CPU)                      \
                              .TypeConstraint<T>("T"),                 \
                          Conv2DBackpropInputOp<T>);                   \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>Conv2DBackpropFilter")          \
                              .Device(DEVICE_CPU)                      \
                              .TypeConstraint<T>("T"),                 \
                          Conv2DBackpropFilterOp<T>)
REGISTER(Eigen::half);
REGISTER(Eigen::bfloat16);
REGISTER(float);
REGISTER(double);

// [nodes] What the gradients of all three are described with.
using Attrs = std::vector<
    std::pair<std::string, tensorflow::FunctionDefHelper::AttrValueWrapper>>;
const char kType[] = "T: {half, bfloat16, float, double}";

Attrs ConvolutionAttrs() {
  return {{"T", "$T"},
          {"strides", "$strides"},
          {"dilations", "$dilations"},
          {"padding", "$padding"},
          {"explicit_paddings", "$explicit_paddings"}};
}

tensorflow::FunctionDefHelper::Node ShapeOf(const std::string& input) {
  return {{input + "_sizes"},
          "Shape",
          {input},
          {{"T", "$T"}, {"out_type", tensorflow::DT_INT32}}};
}

// [gradient] Each gradient is a call of the other two ops.
absl::Status Conv2DGrad(const tensorflow::AttrSlice& /*attrs*/,
                        tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "Conv2DGrad", {"x: T", "filter: T", "dy: T"}, {"dx: T", "dfilter: T"},
      {kType},
      {ShapeOf("x"),
       ShapeOf("filter"),
       {{"to_x"},
        "OpByOp>Conv2DBackpropInput",
        {"x_sizes:output:0", "filter", "dy"},
        ConvolutionAttrs()},
       {{"to_filter"},
        "OpByOp>Conv2DBackpropFilter",
        {"x", "filter_sizes:output:0", "dy"},
        ConvolutionAttrs()}},
      {{"dx", "to_x:dx:0"}, {"dfilter", "to_filter:dfilter:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>Conv2D", Conv2DGrad);

// [second] These are linear in what they are given, too.
absl::Status InputGrad(const tensorflow::AttrSlice& /*attrs*/,
                       tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "Conv2DBackpropInputGrad",
      {"x_sizes: int32", "filter: T", "dy: T", "up: T"},
      {"dsizes: int32", "dfilter: T", "ddy: T"}, {kType},
      {{{"dsizes"}, "ZerosLike", {"x_sizes"}, {{"T", tensorflow::DT_INT32}}},
       ShapeOf("filter"),
       {{"to_filter"},
        "OpByOp>Conv2DBackpropFilter",
        {"up", "filter_sizes:output:0", "dy"},
        ConvolutionAttrs()},
       {{"to_dy"}, "OpByOp>Conv2D", {"up", "filter"}, ConvolutionAttrs()}},
      {{"dsizes", "dsizes:y:0"},
       {"dfilter", "to_filter:dfilter:0"},
       {"ddy", "to_dy:y:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>Conv2DBackpropInput", InputGrad);

absl::Status FilterGrad(const tensorflow::AttrSlice& /*attrs*/,
                        tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "Conv2DBackpropFilterGrad",
      {"x: T", "filter_sizes: int32", "dy: T", "up: T"},
      {"dx: T", "dsizes: int32", "ddy: T"}, {kType},
      {{{"dsizes"},
        "ZerosLike",
        {"filter_sizes"},
        {{"T", tensorflow::DT_INT32}}},
       ShapeOf("x"),
       {{"to_x"},
        "OpByOp>Conv2DBackpropInput",
        {"x_sizes:output:0", "up", "dy"},
        ConvolutionAttrs()},
       {{"to_dy"}, "OpByOp>Conv2D", {"x", "up"}, ConvolutionAttrs()}},
      {{"dx", "to_x:dx:0"}, {"dsizes", "dsizes:y:0"}, {"ddy", "to_dy:y:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>Conv2DBackpropFilter", FilterGrad);

}  // namespace
}  // namespace op_by_op

// For Python's ctypes: the calls of ForEachRun for a window of an image of
// one channel, three numbers for each. `rows` and `columns` are a Side each.
extern "C" __attribute__((visibility("default"))) int Conv2DRuns(
    const int64_t* rows, const int64_t* columns, int window, int64_t* calls) {
  const auto side = [](const int64_t* x) {
    return op_by_op::Side{x[0], x[1], x[2], x[3], x[4], x[5]};
  };
  const op_by_op::Windows windows = {side(rows), side(columns), 1, 1};
  int count = 0;
  windows.ForEachRun(window, window + 1,
                     [&](int64_t patch, int64_t pixel, int64_t size) {
                       for (int64_t number : {patch, pixel, size}) {
                         *calls++ = number;
                       }
                       ++count;
                     });
  return count;
}
