// OpByOp>Conv2D and its two gradients: the patches of an image as a matrix,
// multiplied by another one.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

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
#include "unsupported/Eigen/CXX11/Tensor"
#include "xla/tsl/framework/convolution/eigen_spatial_convolutions.h"

namespace op_by_op {
namespace {

using tensorflow::DEVICE_CPU;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [attrs] How the windows lie, rows before columns: checked once for all.
constexpr int64_t kLargest = 1 << 24;  // Eigen counts windows in floats

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

// [shape] The gradients know what dy looks like, and so does the shape
// function.
absl::Status Conv2DShape(InferenceContext* context) {
  ShapeHandle y;
  TF_RETURN_IF_ERROR(
      OutputShape(context, context->input(0), context->input(1), &y));
  context->set_output(0, y);
  return absl::OkStatus();
}

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

// [doc] The same for all three.
constexpr char kDoc[] = R"doc(
Images are [batch, rows, columns, channels], a filter is [rows, columns, channels, filters].

strides: From one window to the next, for rows and for columns.
dilations: From one element of a window to the next, likewise.
padding: 'SAME', 'VALID', or 'EXPLICIT', which needs the next one.
explicit_paddings: Zeros above, below, left and right of the image.
)doc";

// [interface] One convolution, and its gradients for both inputs.
#define ATTRS                                         \
  Attr("T: {float, double}")                          \
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
  int64_t spread = 1;  // distance of the image's pixels, zeros between them

  // Padding that makes as many windows; below 0 if they need not all pixels.
  int64_t after() const {
    const int64_t last = (windows - 1) * stride + (taps - 1) * dilation;
    return last - before - (size - 1) * spread;
  }

  Side Part(int64_t first, int64_t count) const {
    return {size,  taps,  stride, dilation, before - first * stride,
            count, spread};
  }

  Side Mirrored() const;
  Side Exchanged() const;
};

// [mirrored] Windows on dy, each of which makes one pixel of dx.
Side Side::Mirrored() const {
  const int64_t reach = (taps - 1) * dilation;  // from first to last element
  return {windows, taps, 1, dilation, reach - before, size, stride};
}

// [exchanged] Windows on x, one for each element of the filter: dy is in them.
Side Side::Exchanged() const {
  return {size, windows, dilation, stride, before, taps};
}

// [sides] The same rule as for shapes, for sizes that are known.
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

// [convolve] All three ops are this, on some images and some rows of windows.
// For Eigen, a row-major tensor has its dimensions in the other order, so that
// its rows are our columns.
template <typename T, int rank>
using Map = Eigen::TensorMap<Eigen::Tensor<T, rank, Eigen::RowMajor>>;

template <typename T>
void Convolve(const Map<const T, 4>& images, const Map<const T, 2>& filter,
              const Side& rows, const Side& columns, Map<T, 2> result) {
  const Eigen::array<Eigen::DenseIndex, 2> matrix = {result.dimension(0),
                                                     filter.dimension(0)};
  const Eigen::array<Eigen::IndexPair<Eigen::DenseIndex>, 1> inner = {{{1, 0}}};
  result =
      images
          .extract_image_patches(
              columns.taps, rows.taps, columns.stride, rows.stride,
              columns.dilation, rows.dilation, columns.spread, rows.spread,
              columns.before, columns.after(), rows.before, rows.after(), T(0))
          .reshape(matrix)
          .contract(filter, inner);
}

// [shard] About this many windows at a time: the parts do not depend on the
// number of threads, and so neither do the bits of the result.
constexpr int64_t kTogether = 256;

template <typename T>
void ConvolveAll(OpKernelContext* context, const Tensor& images,
                 const Tensor& filter, const Side& rows, const Side& columns,
                 Tensor* result) {
  const int64_t batch = images.dim_size(0);
  const int64_t filters = filter.dim_size(3);
  const int64_t patch = filter.NumElements() / filters;
  const int64_t whole = rows.windows * columns.windows;  // of an image
  const int64_t some_rows =
      std::clamp<int64_t>(kTogether / columns.windows, 1, rows.windows);
  const int64_t some_images =
      some_rows < rows.windows
          ? 1
          : std::clamp<int64_t>(kTogether / whole, 1, batch);
  const int64_t parts = (rows.windows + some_rows - 1) / some_rows;
  const int64_t groups = (batch + some_images - 1) / some_images;
  const auto work = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / parts * some_images;
      const int64_t count = std::min(some_images, batch - image);
      const int64_t row = i % parts * some_rows;
      const int64_t high = std::min(some_rows, rows.windows - row);
      const int64_t pixels = images.NumElements() / batch;
      Convolve<T>(
          Map<const T, 4>(images.flat<T>().data() + image * pixels, count,
                          images.dim_size(1), images.dim_size(2),
                          images.dim_size(3)),
          Map<const T, 2>(filter.flat<T>().data(), patch, filters),
          rows.Part(row, high), columns,
          Map<T, 2>(result->flat<T>().data() +
                        (image * whole + row * columns.windows) * filters,
                    count * high * columns.windows, filters));
    }
  };
  const int64_t cycles = some_images * some_rows * columns.windows *
                         std::min<int64_t>(patch * filters, 1 << 20);
  const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(workers.num_threads, workers.workers, groups * parts,
                    cycles, work);
}

// [shuffle] A copy with the dimensions in another order; those marked turned.
template <typename T>
void Shuffle(const Tensor& from, const Eigen::array<int, 4>& order,
             const Eigen::array<bool, 4>& turned, Tensor* to) {
  to->tensor<T, 4>() = from.tensor<T, 4>().reverse(turned).shuffle(order);
}

// [base] What the three kernels have in common: attrs, shapes and checks.
template <typename T>
class Convolution : public tensorflow::OpKernel {
 public:
  explicit Convolution(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, layout_.Read(context));
  }

  // Of the inputs of an op, the one at `sizes` is a shape; none is if -1.
  void ComputeAs(OpKernelContext* context, int sizes) {
    TensorShape shapes[] = {
        context->input(0).shape(), context->input(1).shape(), {}};
    if (sizes >= 0) {
      const absl::Status made =
          tensorflow::tensor::MakeShape(context->input(sizes), &shapes[sizes]);
      OP_REQUIRES(context, made.ok(),
                  absl::InvalidArgumentError(absl::StrCat(
                      sizes == 0 ? "x_sizes" : "filter_sizes",
                      " must be a vector of four sizes: ", made.message())));
    }
    Side rows, columns;
    OP_REQUIRES_OK(context, Measure(shapes, &rows, &columns));
    if (sizes >= 0) {
      OP_REQUIRES(context, context->input(2).shape() == shapes[2],
                  absl::InvalidArgumentError(absl::StrCat(
                      "dy must have the shape ", shapes[2].DebugString(),
                      " of the result for these ",
                      sizes == 0 ? "x_sizes" : "filter_sizes",
                      ", strides and dilations, got ",
                      context->input(2).shape().DebugString())));
    }
    Tensor* output;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, shapes[sizes < 0 ? 2 : sizes], &output));
    bool empty = false;  // then there is nothing to sum
    for (const TensorShape& shape : shapes) {
      empty = empty || shape.num_elements() == 0;
    }
    if (empty) {
      auto all = output->flat<T>();
      std::fill_n(all.data(), all.size(), T(0));
      return;
    }
    Compute(context, rows, columns, output);
  }

 protected:
  virtual void Compute(OpKernelContext* context, const Side& rows,
                       const Side& columns, Tensor* output) = 0;

 private:
  // From the shapes of x and filter, that of the result.
  absl::Status Measure(TensorShape* shapes, Side* rows, Side* columns) const {
    const TensorShape &x = shapes[0], &filter = shapes[1];
    if (x.dims() != 4 || filter.dims() != 4 ||
        x.dim_size(3) != filter.dim_size(2)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "x must be [batch, rows, columns, channels] and filter [rows, "
          "columns, channels, filters] with the same channels, got shapes ",
          x.DebugString(), " and ", filter.DebugString()));
    }
    TF_RETURN_IF_ERROR(MakeSide(layout_, 0, x, filter, rows));
    TF_RETURN_IF_ERROR(MakeSide(layout_, 1, x, filter, columns));
    return TensorShape::BuildTensorShape(
        {x.dim_size(0), rows->windows, columns->windows, filter.dim_size(3)},
        &shapes[2]);
  }

  Layout layout_;
};

// [kernel] Every window, times the filter.
template <typename T>
class Conv2DOp : public Convolution<T> {
 public:
  using Convolution<T>::Convolution;
  void Compute(OpKernelContext* context) override {
    this->ComputeAs(context, -1);
  }

 protected:
  void Compute(OpKernelContext* context, const Side& rows, const Side& columns,
               Tensor* y) override {
    ConvolveAll<T>(context, context->input(0), context->input(1), rows, columns,
                   y);
  }
};

// [input] dy with the filter turned by half a turn, whose channels and filters
// change places.
template <typename T>
class Conv2DBackpropInputOp : public Convolution<T> {
 public:
  using Convolution<T>::Convolution;
  void Compute(OpKernelContext* context) override {
    this->ComputeAs(context, 0);
  }

 protected:
  void Compute(OpKernelContext* context, const Side& rows, const Side& columns,
               Tensor* dx) override {
    const Tensor& filter = context->input(1);
    Tensor turned;  // [rows, columns, filters, channels]
    OP_REQUIRES_OK(context, context->allocate_temp(
                                filter.dtype(),
                                {filter.dim_size(0), filter.dim_size(1),
                                 filter.dim_size(3), filter.dim_size(2)},
                                &turned));
    Shuffle<T>(filter, {0, 1, 3, 2}, {true, true, false, false}, &turned);
    ConvolveAll<T>(context, context->input(2), turned, rows.Mirrored(),
                   columns.Mirrored(), dx);
  }
};

// [filter] x with dy as the filter: channels take the place of images, and
// images that of channels.
template <typename T>
class Conv2DBackpropFilterOp : public Convolution<T> {
 public:
  using Convolution<T>::Convolution;
  void Compute(OpKernelContext* context) override {
    this->ComputeAs(context, 1);
  }

 protected:
  void Compute(OpKernelContext* context, const Side& rows, const Side& columns,
               Tensor* dfilter) override {
    const Tensor &x = context->input(0), &dy = context->input(2);
    const Eigen::array<bool, 4> as_it_is = {false, false, false, false};
    Tensor images, filter, result;
    // [channels, rows, columns, batch]
    OP_REQUIRES_OK(context,
                   context->allocate_temp(x.dtype(),
                                          {x.dim_size(3), x.dim_size(1),
                                           x.dim_size(2), x.dim_size(0)},
                                          &images));
    // [rows, columns, batch, filters]
    OP_REQUIRES_OK(context,
                   context->allocate_temp(x.dtype(),
                                          {dy.dim_size(1), dy.dim_size(2),
                                           dy.dim_size(0), dy.dim_size(3)},
                                          &filter));
    // [channels, rows, columns, filters]
    OP_REQUIRES_OK(context, context->allocate_temp(
                                x.dtype(),
                                {dfilter->dim_size(2), dfilter->dim_size(0),
                                 dfilter->dim_size(1), dfilter->dim_size(3)},
                                &result));
    Shuffle<T>(x, {3, 1, 2, 0}, as_it_is, &images);
    Shuffle<T>(dy, {1, 2, 0, 3}, as_it_is, &filter);
    ConvolveAll<T>(context, images, filter, rows.Exchanged(),
                   columns.Exchanged(), &result);
    Shuffle<T>(result, {1, 2, 0, 3}, as_it_is, dfilter);
  }
};

// [register] Two types of each.
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
REGISTER(float);
REGISTER(double);

// [nodes] What the gradients of all three are described with.
using Attrs = std::vector<
    std::pair<std::string, tensorflow::FunctionDefHelper::AttrValueWrapper>>;
const char kType[] = "T: {float, double}";

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
