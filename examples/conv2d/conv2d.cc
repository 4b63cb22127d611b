// OpByOp>Conv2D and its two gradients: products of matrices, one of which is a
// view of padded images.

#define EIGEN_USE_THREADS

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "conv2d_multiply.h"
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

constexpr int64_t kLargest = 1 << 24;  // a product of two is far from 2^63

// How the windows lie, rows before columns: checked when it is read.
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

// The shape of conv2d(x, filter).
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

// Of both gradients, which have three inputs.
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

// One pair of numbers for rows and columns, and four for padding.
REGISTER_OP("OpByOp>Conv2D")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int) = [1, 1]")
    .Attr("dilations: list(int) = [1, 1]")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Input("x: T")
    .Input("filter: T")
    .Output("y: T")
    .SetShapeFn(Conv2DShape)
    .Doc(absl::StrCat("Convolves images.\n", kDoc));

// The shape of what an op does not get is an input.
REGISTER_OP("OpByOp>Conv2DBackpropInput")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int) = [1, 1]")
    .Attr("dilations: list(int) = [1, 1]")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Input("x_sizes: int32")
    .Input("filter: T")
    .Input("dy: T")
    .Output("dx: T")
    .SetShapeFn(BackpropShape<0>)
    .Doc(absl::StrCat("The gradient of Conv2D for its images.\n", kDoc));

REGISTER_OP("OpByOp>Conv2DBackpropFilter")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int) = [1, 1]")
    .Attr("dilations: list(int) = [1, 1]")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Input("x: T")
    .Input("filter_sizes: int32")
    .Input("dy: T")
    .Output("dfilter: T")
    .SetShapeFn(BackpropShape<1>)
    .Doc(absl::StrCat("The gradient of Conv2D for its filter.\n", kDoc));

// The windows along the rows or the columns of an image.
struct Side {
  int64_t size, taps, stride, dilation, before, windows;

  // The zeros behind the image that the last window needs.
  int64_t after() const {
    const int64_t end = (windows - 1) * stride + (taps - 1) * dilation + 1;
    return std::max<int64_t>(end - before - size, 0);
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
    return absl::InvalidArgumentError(absl::StrCat(
        "x must have at most ", kLargest,
        " rows and columns with its padding, got ",
        made->before + made->size + after, side == 0 ? " rows" : " columns",
        " for a filter that reaches over ", reach));
  }
  return absl::OkStatus();
}

struct Windows {
  Side rows, columns;
  int64_t images, channels;
};

// [multipliers] The best that this processor has.
template <typename T>
Multiplier<T> FindMultiplier() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return avx512::GetMultiplier<T>();
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return avx2::GetMultiplier<T>();
  }
#endif
  return baseline::GetMultiplier<T>();
}

// Calls work(0) to work(count - 1), on all threads.
template <typename Work>
void ForEach(OpKernelContext* context, int64_t count, int64_t cycles,
             const Work& work) {
  const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
  const int64_t most = int64_t{1} << 40;  // the cost of all fits into 64 bits
  tensorflow::Shard(workers.num_threads, workers.workers, count,
                    std::min(cycles, most / count),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) work(i);
                    });
}

// Images with rows and columns of zeros around them.
struct Border {
  int64_t top, bottom, left, right;
};

Border AroundImage(const Windows& windows) {
  const Side &rows = windows.rows, &columns = windows.columns;
  return {rows.before, rows.after(), columns.before, columns.after()};
}

template <typename T>
struct Padded {
  const T* data;
  int64_t rows, row;  // number of rows of an image, and their stride
  int64_t depth;
  Tensor memory;

  const T* At(int64_t image, int64_t y, int64_t x) const {
    return data + (image * rows + y) * row + x * depth;
  }
};

template <typename T>
absl::Status Pad(OpKernelContext* context, const Tensor& x,
                 const Border& border, Padded<T>* padded) {
  const int64_t images = x.dim_size(0), rows = x.dim_size(1);
  const int64_t depth = x.dim_size(3), row = x.dim_size(2) * depth;
  const T* from = x.flat<T>().data();
  const auto [top, bottom, left, right] = border;
  *padded = {from, rows + top + bottom, row + (left + right) * depth, depth, x};
  if (top + bottom + left + right == 0) return absl::OkStatus();
  TensorShape shape;
  TF_RETURN_IF_ERROR(TensorShape::BuildTensorShape(
      {images, padded->rows, padded->row}, &shape));
  TF_RETURN_IF_ERROR(context->allocate_temp(x.dtype(), shape, &padded->memory));
  T* to = padded->memory.template flat<T>().data();
  padded->data = to;
  ForEach(context, images * padded->rows, padded->row,
          [&, top = top, left = left](int64_t i) {
            const int64_t y = i % padded->rows - top;
            T* line = to + i * padded->row;
            if (y < 0 || y >= rows) {
              std::fill_n(line, padded->row, T(0));
            } else {
              const T* pixels = from + (i / padded->rows * rows + y) * row;
              T* end = std::fill_n(line, left * depth, T(0));
              end = std::copy_n(pixels, row, end);
              std::fill(end, line + padded->row, T(0));
            }
          });
  return absl::OkStatus();
}

// A matrix in panels: as many columns as the multiplier takes at a time,
// row by row, with zeros for those that the last panel does not have.
struct Step {
  int64_t count, step;
};

template <typename T>
struct Panels {
  const T* data;
  int64_t rows, width;
  Tensor memory;

  int64_t panel() const { return rows * width; }
};

template <typename T>
absl::Status Pack(OpKernelContext* context, const T* from, Step blocks,
                  Step rows, Step columns, int64_t width, Panels<T>* panels) {
  const int64_t all = blocks.count * rows.count;
  const int64_t number = (columns.count + width - 1) / width;
  TensorShape shape;
  TF_RETURN_IF_ERROR(
      TensorShape::BuildTensorShape({number, all, width}, &shape));
  TF_RETURN_IF_ERROR(context->allocate_temp(
      tensorflow::DataTypeToEnum<T>::value, shape, &panels->memory));
  T* to = panels->memory.template flat<T>().data();
  panels->data = to;
  panels->rows = all;
  panels->width = width;
  ForEach(context, number * all, width, [&](int64_t i) {
    const int64_t row = i % all, first = i / all * width;
    const T* source = from + row / rows.count * blocks.step +
                      row % rows.count * rows.step + first * columns.step;
    const int64_t there = std::min(width, columns.count - first);
    T* line = to + i * width;
    for (int64_t n = 0; n < there; ++n) line[n] = source[n * columns.step];
    std::fill(line + there, line + width, T(0));
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
    wide->flat<float>().device(context->eigen_cpu_device()) =
        narrow.flat<T>().template cast<float>();
  }
  return absl::OkStatus();
}

// What the three kernels have in common: attrs, shapes and checks.
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
    Tensor* output = nullptr;
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
      output->flat<T>().device(context->eigen_cpu_device()) =
          result.flat<float>().template cast<T>();
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

// [kernel] A row of the result: y = patches · filter, where the patches are a
// view of the padded images.
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
    const Side &rows = windows.rows, &columns = windows.columns;
    const int64_t images = windows.images, channels = windows.channels;
    const int64_t filters = filter.dim_size(3);
    const int64_t patch = rows.taps * columns.taps * channels;
    Padded<N> image;
    TF_RETURN_IF_ERROR(Pad(context, x, AroundImage(windows), &image));
    const Multiplier<N> multiplier = FindMultiplier<N>();
    Panels<N> weights;
    TF_RETURN_IF_ERROR(Pack(context, filter.flat<N>().data(), {1, 0},
                            {patch, filters}, {filters, 1}, multiplier.width,
                            &weights));
    const int64_t width = weights.width;
    Product<N> all;
    all.rows = columns.windows;
    all.row = columns.stride * channels;
    all.i = {rows.taps, rows.dilation * image.row,
             columns.taps * channels * width};
    all.j = {columns.taps, columns.dilation * channels, channels * width};
    all.k = channels;
    if (columns.dilation == 1) {  // a row of a patch lies in one piece
      all.j = {1, 0, 0};
      all.k = columns.taps * channels;
    }
    all.next = 1;
    all.b = weights.data;
    all.panel = weights.panel();
    all.columns = all.out_row = filters;
    all.add = false;
    N* results = y->flat<N>().data();
    ForEach(context, images * rows.windows, columns.windows * patch * filters,
            [&](int64_t row) {
              Product<N> one = all;
              one.a = image.At(row / rows.windows,
                               row % rows.windows * rows.stride, 0);
              one.out = results + row * columns.windows * filters;
              multiplier.multiply(one);
            });
    return absl::OkStatus();
  }
};

// [phases] The elements of the filter that lie on a pixel, and in which
// windows: pairs with window · stride + element · dilation = pixel + before.
struct Phase {
  int64_t count, element, window;     // how many pairs, and the first of them
  int64_t element_step, window_step;  // from one pair to the next
};

Phase PhaseOf(const Side& side, int64_t pixel, bool only_existing) {
  const int64_t common = std::gcd(side.stride, side.dilation);
  Phase pairs = {0, 0, 0, side.stride / common, -side.dilation / common};
  for (int64_t element = 0; element < side.taps; ++element) {
    const int64_t start = pixel + side.before - element * side.dilation;
    if (start % side.stride != 0) continue;
    const int64_t window = start / side.stride;
    if (only_existing && (window < 0 || window >= side.windows)) continue;
    if (pairs.count++ == 0) {
      pairs.element = element;
      pairs.window = window;
    }
  }
  return pairs;
}

// [around] Windows left and right of dy that would lie on the image, if they
// existed: they are zeros.
Border AroundGradient(const Side& columns) {
  const int64_t reach = (columns.taps - 1) * columns.dilation - columns.before;
  const int64_t last = (columns.size - 1 + columns.before) / columns.stride;
  return {0, 0,
          std::max<int64_t>((reach + columns.stride - 1) / columns.stride, 0),
          std::max<int64_t>(last - (columns.windows - 1), 0)};
}

// Infinity times one of the zeros would be NaN.
template <typename T>
bool AllFinite(const T* numbers, int64_t count) {
  return std::all_of(numbers, numbers + count,
                     [](T number) { return number * 0 == 0; });
}

// [input_product] Every step-th pixel of a row of dx, from x on: the sum of dy
// times the filter over the pairs of two phases.
template <typename N>
struct InputProducts {
  const Windows& windows;
  int64_t zeros, step;
  Padded<N> dy;
  Panels<N> filter;  // for each element, a matrix from filters to channels
  N* dx;

  Product<N> At(int64_t row, int64_t x) const {
    const Side &rows = windows.rows, &columns = windows.columns;
    const Phase down = PhaseOf(rows, row % rows.size, true);
    const Phase across = PhaseOf(columns, x, step == columns.size);
    const int64_t element = dy.depth * filter.width;
    const int64_t line = columns.taps * element;
    Product<N> product;
    // Where it begins in dy, in the filter and in dx.
    product.a = dy.At(row / rows.size, down.window, zeros + across.window);
    product.b = filter.data + down.element * line + across.element * element;
    product.out = dx + (row * columns.size + x) * windows.channels;
    // Its rows are pixels, whose windows follow each other. Its columns are
    // channels.
    product.rows = (columns.size - 1 - x) / step + 1;
    product.row = dy.depth;
    product.out_row = step * windows.channels;
    product.columns = windows.channels;
    product.panel = filter.panel();
    // It sums over the pairs of both phases, and over the filters.
    product.i = {down.count, down.window_step * dy.row,
                 down.element_step * line};
    product.j = {across.count, across.window_step * dy.depth,
                 across.element_step * element};
    product.k = dy.depth;
    product.next = 1;
    product.add = false;
    return product;
  }
};

// [input] The gradient for the image: rows of dx are shared among threads.
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
    const Side &rows = windows.rows, &columns = windows.columns;
    const int64_t taps = rows.taps * columns.taps, filters = filter.dim_size(3);
    const int64_t matrix = windows.channels * filters;
    const N* weights = filter.flat<N>().data();
    const bool finite = AllFinite(weights, filter.NumElements());
    const int64_t step = finite ? columns.stride : columns.size;
    const Border around = AroundGradient(columns);
    const Multiplier<N> multiplier = FindMultiplier<N>();
    InputProducts<N> products{windows, around.left, step,
                              {},      {},          dx->flat<N>().data()};
    TF_RETURN_IF_ERROR(Pad(context, dy, around, &products.dy));
    TF_RETURN_IF_ERROR(Pack(context, weights, {taps, matrix}, {filters, 1},
                            {windows.channels, filters}, multiplier.width,
                            &products.filter));
    ForEach(context, windows.images * rows.size,
            columns.size * matrix * taps / (rows.stride * columns.stride),
            [&](int64_t row) {
              for (int64_t x = 0; x < std::min(step, columns.size); ++x) {
                multiplier.multiply(products.At(row, x));
              }
            });
    return absl::OkStatus();
  }
};

// [tiles] dfilter has a row for each (i, j, c) and a column for each filter. A
// tile is some rows whose pixels follow each other in the image.
struct Tile {
  int64_t row, rows, column, columns;
};

struct Tiles {
  static constexpr int64_t kRows = 42;  // a multiple of 6 and of 14
  int64_t filters, piece, blocks, columns, strips, count;

  Tiles(const Windows& windows, int64_t filters, int64_t panel, int threads)
      : filters(filters) {
    const Side& side = windows.columns;
    const int64_t together = side.dilation == 1 ? side.taps : 1;
    const int64_t pieces = windows.rows.taps * side.taps / together;
    piece = together * windows.channels;
    blocks = (piece + kRows - 1) / kRows;
    columns = pieces * blocks < threads ? panel : filters;
    strips = (filters + columns - 1) / columns;
    count = pieces * blocks * strips;
  }

  Tile At(int64_t number) const {
    const int64_t column = number % strips * columns;
    const int64_t row = number / strips % blocks * kRows;
    return {number / strips / blocks * piece + row,
            std::min(kRows, piece - row), column,
            std::min(columns, filters - column)};
  }
};

// [filter_product] A tile of dfilter: the sum of x times dy over the windows of
// an image, added to that of the images before.
template <typename N>
struct FilterProducts {
  const Windows& windows;
  int64_t filters;
  Padded<N> x;
  Panels<N> dy;
  N* dfilter;

  Product<N> At(const Tile& tile, int64_t image) const {
    const Side &rows = windows.rows, &columns = windows.columns;
    const int64_t place = tile.row / windows.channels;
    const int64_t i = place / columns.taps, j = place % columns.taps;
    const int64_t c = tile.row % windows.channels;
    Product<N> product;
    // Where it begins in x, in dy and in dfilter.
    product.a = x.At(image, i * rows.dilation, j * columns.dilation) + c;
    product.b = dy.data + tile.column * dy.rows +
                image * rows.windows * columns.windows * dy.width;
    product.out = dfilter + tile.row * filters + tile.column;
    // Its rows are elements and channels, its columns are filters.
    product.rows = tile.rows;
    product.row = 1;
    product.out_row = filters;
    product.columns = tile.columns;
    product.panel = dy.panel();
    // It sums over the rows and the columns of windows.
    product.i = {rows.windows, rows.stride * x.row, columns.windows * dy.width};
    product.j = {1, 0, 0};
    product.k = columns.windows;
    product.next = columns.stride * windows.channels;
    product.add = image > 0;
    return product;
  }
};

// [filter] The gradient for the filter: tiles of dfilter are shared.
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
    const int64_t filters = dy.dim_size(3);
    const int64_t all =
        windows.images * windows.rows.windows * windows.columns.windows;
    const Multiplier<N> multiplier = FindMultiplier<N>();
    FilterProducts<N> products{
        windows, filters, {}, {}, dfilter->flat<N>().data()};
    TF_RETURN_IF_ERROR(Pad(context, x, AroundImage(windows), &products.x));
    TF_RETURN_IF_ERROR(Pack(context, dy.flat<N>().data(), {1, 0},
                            {all, filters}, {filters, 1}, multiplier.width,
                            &products.dy));
    const Tiles tiles(
        windows, filters, multiplier.width,
        context->device()->tensorflow_cpu_worker_threads()->num_threads);
    ForEach(context, tiles.count,
            all * std::min(tiles.kRows, tiles.piece) * tiles.columns,
            [&](int64_t number) {
              const Tile tile = tiles.At(number);
              for (int64_t image = 0; image < windows.images; ++image) {
                multiplier.multiply(products.At(tile, image));
              }
            });
    return absl::OkStatus();
  }
};

// Four types of each.
#define OP_BY_OP_REGISTER(T)                                           \
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
OP_BY_OP_REGISTER(Eigen::half);
OP_BY_OP_REGISTER(Eigen::bfloat16);
OP_BY_OP_REGISTER(float);
OP_BY_OP_REGISTER(double);
#undef OP_BY_OP_REGISTER

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

// These are linear in what they are given, too.
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
