// A convolution and both of its gradients, in one loop over the products.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::DEVICE_CPU;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// How many windows lie along a side, or 0 if the filter does not fit into it.
int64_t CountWindows(int64_t size, int64_t taps, int64_t stride,
                     int64_t dilation) {
  // No product that could overflow.
  if (taps <= 0 || taps > size || taps - 1 > (size - 1) / dilation) return 0;
  return (size - 1 - (taps - 1) * dilation) / stride + 1;
}

absl::Status DoesNotFit(const std::string& x, const std::string& filter) {
  return absl::InvalidArgumentError(absl::StrCat(
      "filter (or filter_sizes) must be [rows, columns, channels, filters], "
      "with the channels of x (or x_sizes), and must fit into x with its "
      "dilation, got shapes ",
      x, " and ", filter));
}

// [batch, rows, columns, filters], each where the inputs' shapes tell it.
absl::Status ForwardShape(InferenceContext* context) {
  ShapeHandle x, filter;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &x));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 4, &filter));
  int64_t stride, dilation;
  TF_RETURN_IF_ERROR(context->GetAttr("stride", &stride));
  TF_RETURN_IF_ERROR(context->GetAttr("dilation", &dilation));
  DimensionHandle channels, windows[2];
  bool fits =
      context->Merge(context->Dim(x, 3), context->Dim(filter, 2), &channels)
          .ok();
  for (int side = 0; side < 2; ++side) {
    const DimensionHandle size = context->Dim(x, 1 + side);
    const DimensionHandle taps = context->Dim(filter, side);
    windows[side] = context->UnknownDim();
    if (!context->ValueKnown(size) || !context->ValueKnown(taps)) continue;
    const int64_t count = CountWindows(context->Value(size),
                                       context->Value(taps), stride, dilation);
    fits = fits && count > 0;
    windows[side] = context->MakeDim(count);
  }
  if (!fits) {
    return DoesNotFit(context->DebugString(x), context->DebugString(filter));
  }
  context->set_output(
      0, context->MakeShape({context->Dim(x, 0), windows[0], windows[1],
                             context->Dim(filter, 3)}));
  return absl::OkStatus();
}

template <int sizes>  // which input is the shape of the result
absl::Status GradientShape(InferenceContext* context) {
  ShapeHandle any, result;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1 - sizes), 4, &any));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(2), 4, &any));
  TF_RETURN_IF_ERROR(context->MakeShapeFromShapeTensor(sizes, &result));
  TF_RETURN_IF_ERROR(context->WithRank(result, 4, &result));
  context->set_output(0, result);
  return absl::OkStatus();
}

REGISTER_OP("LoopConv2D")
    .Attr("T: {float, double}")
    .Attr("stride: int >= 1 = 1")
    .Attr("dilation: int >= 1 = 1")
    .Input("x: T")
    .Input("filter: T")
    .Output("y: T")
    .SetShapeFn(ForwardShape)
    .Doc("Convolves images without padding, in loops, on one thread.");

// [interface] The gradient for the image, and the one for the filter.
REGISTER_OP("LoopConv2DBackpropInput")
    .Attr("T: {float, double}")
    .Attr("stride: int >= 1 = 1")
    .Attr("dilation: int >= 1 = 1")
    .Input("x_sizes: int32")
    .Input("filter: T")
    .Input("dy: T")
    .Output("dx: T")
    .SetShapeFn(GradientShape<0>)
    .Doc("The gradient of LoopConv2D for its images.");

REGISTER_OP("LoopConv2DBackpropFilter")
    .Attr("T: {float, double}")
    .Attr("stride: int >= 1 = 1")
    .Attr("dilation: int >= 1 = 1")
    .Input("x: T")
    .Input("filter_sizes: int32")
    .Input("dy: T")
    .Output("dfilter: T")
    .SetShapeFn(GradientShape<1>)
    .Doc("The gradient of LoopConv2D for its filter.");

// What the three ops have in common.
class LoopOp : public tensorflow::OpKernel {
 public:
  explicit LoopOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("stride", &stride_));
    OP_REQUIRES_OK(context, context->GetAttr("dilation", &dilation_));
  }

 protected:
  using Place = Eigen::array<Eigen::Index, 4>;

  // [loop] A pixel of x, times an element of the filter, is added to an output.
  template <typename Filter, typename Result, typename Use>
  void EachProduct(const Filter& filter, const Result& y, const Use& use) {
    for (int64_t n = 0; n < y.dimension(0); ++n)
      for (int64_t h = 0; h < y.dimension(1); ++h)
        for (int64_t w = 0; w < y.dimension(2); ++w)
          for (int64_t i = 0; i < filter.dimension(0); ++i)
            for (int64_t j = 0; j < filter.dimension(1); ++j)
              for (int64_t c = 0; c < filter.dimension(2); ++c)
                for (int64_t o = 0; o < filter.dimension(3); ++o)
                  use(/*pixel=*/Place{n, h * stride_ + i * dilation_,
                                      w * stride_ + j * dilation_, c},
                      /*element=*/Place{i, j, c, o},
                      /*output=*/Place{n, h, w, o});
  }

  // The input that is the shape of the result.
  static absl::Status ReadSizes(OpKernelContext* context, int input,
                                TensorShape* shape) {
    absl::Status read =
        tensorflow::tensor::MakeShape(context->input(input), shape);
    if (read.ok()) return read;
    return absl::InvalidArgumentError(
        absl::StrCat(input == 0 ? "x_sizes" : "filter_sizes",
                     " must be a vector of four sizes: ", read.message()));
  }

  // The shape of y.
  absl::Status Measure(const TensorShape& x, const TensorShape& filter,
                       TensorShape* y) const {
    if (x.dims() != 4 || filter.dims() != 4 ||
        x.dim_size(3) != filter.dim_size(2)) {
      return DoesNotFit(x.DebugString(), filter.DebugString());
    }
    int64_t windows[2];
    for (int side = 0; side < 2; ++side) {
      windows[side] = CountWindows(x.dim_size(1 + side), filter.dim_size(side),
                                   stride_, dilation_);
      if (windows[side] == 0) {
        return DoesNotFit(x.DebugString(), filter.DebugString());
      }
    }
    return TensorShape::BuildTensorShape(
        {x.dim_size(0), windows[0], windows[1], filter.dim_size(3)}, y);
  }

  absl::Status CheckGradient(const TensorShape& x, const TensorShape& filter,
                             const TensorShape& dy) const {
    TensorShape y;
    TF_RETURN_IF_ERROR(Measure(x, filter, &y));
    if (dy == y) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "dy must have the shape of the result for these sizes, stride "
        "and dilation (x_sizes or filter_sizes), ",
        y.DebugString(), ", got ", dy.DebugString()));
  }

  int64_t stride_, dilation_;
};

template <typename T>
class LoopConv2DOp : public LoopOp {
 public:
  using LoopOp::LoopOp;

  // Each product goes to its output.
  void Compute(OpKernelContext* context) override {
    TensorShape shape;
    OP_REQUIRES_OK(context, Measure(context->input(0).shape(),
                                    context->input(1).shape(), &shape));
    Tensor* result = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &result));
    const auto x = context->input(0).tensor<T, 4>();
    const auto filter = context->input(1).tensor<T, 4>();
    auto y = result->tensor<T, 4>();
    y.setZero();
    EachProduct(filter, y, [&](Place pixel, Place element, Place output) {
      y(output) += x(pixel) * filter(element);
    });
  }
};

template <typename T>
class LoopConv2DBackpropInputOp : public LoopOp {
 public:
  using LoopOp::LoopOp;

  // [dx] Each dy goes back to the pixels, times the elements that they met.
  void Compute(OpKernelContext* context) override {
    TensorShape shape;
    OP_REQUIRES_OK(context, ReadSizes(context, 0, &shape));
    OP_REQUIRES_OK(context, CheckGradient(shape, context->input(1).shape(),
                                          context->input(2).shape()));
    Tensor* result = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &result));
    const auto filter = context->input(1).tensor<T, 4>();
    const auto dy = context->input(2).tensor<T, 4>();
    auto dx = result->tensor<T, 4>();
    dx.setZero();
    EachProduct(filter, dy, [&](Place pixel, Place element, Place output) {
      dx(pixel) += dy(output) * filter(element);
    });
  }
};

template <typename T>
class LoopConv2DBackpropFilterOp : public LoopOp {
 public:
  using LoopOp::LoopOp;

  // [dfilter] And to the elements, times the pixels that they met.
  void Compute(OpKernelContext* context) override {
    TensorShape shape;
    OP_REQUIRES_OK(context, ReadSizes(context, 1, &shape));
    OP_REQUIRES_OK(context, CheckGradient(context->input(0).shape(), shape,
                                          context->input(2).shape()));
    Tensor* result = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &result));
    const auto x = context->input(0).tensor<T, 4>();
    const auto dy = context->input(2).tensor<T, 4>();
    auto dfilter = result->tensor<T, 4>();
    dfilter.setZero();
    EachProduct(dfilter, dy, [&](Place pixel, Place element, Place output) {
      dfilter(element) += dy(output) * x(pixel);
    });
  }
};

// Two types of each.
#define OP_BY_OP_REGISTER(T)                                        \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("LoopConv2D").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      LoopConv2DOp<T>);                                             \
  REGISTER_KERNEL_BUILDER(Name("LoopConv2DBackpropInput")           \
                              .Device(DEVICE_CPU)                   \
                              .TypeConstraint<T>("T"),              \
                          LoopConv2DBackpropInputOp<T>);            \
  REGISTER_KERNEL_BUILDER(Name("LoopConv2DBackpropFilter")          \
                              .Device(DEVICE_CPU)                   \
                              .TypeConstraint<T>("T"),              \
                          LoopConv2DBackpropFilterOp<T>)
OP_BY_OP_REGISTER(float);
OP_BY_OP_REGISTER(double);
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
