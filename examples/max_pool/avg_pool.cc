// OpByOp>AvgPool: the average of each window of an image, and its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "max_pool.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

REGISTER_OP("OpByOp>AvgPool")
    .Attr("T: {float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: T")
    .Output("output: T")
    .SetShapeFn(PoolShape)
    .Doc(R"doc(
Takes the average of each window, in each channel, of the pixels inside the image.

input: `[batch, height, width, channels]`.
output: `[batch, pooled_height, pooled_width, channels]`.
ksize: The size of a window in each dimension, `[1, height, width, 1]`.
strides: From one window to the next in each dimension, `[1, height, width, 1]`.
)doc");

REGISTER_OP("OpByOp>AvgPoolGrad")
    .Attr("T: {float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("orig_input_shape: int32")
    .Input("grad: T")
    .Output("output: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle shape, pooled;
      TF_RETURN_IF_ERROR(context->MakeShapeFromShapeTensor(0, &shape));
      TF_RETURN_IF_ERROR(context->WithRank(shape, 4, &shape));
      TF_RETURN_IF_ERROR(InferPooled(context, "orig_input", shape, &pooled));
      TF_RETURN_IF_ERROR(context->Merge(context->input(1), pooled, &pooled));
      context->set_output(0, shape);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Shares the gradient of each window among its pixels, all alike.

orig_input_shape: What AvgPool was given has this shape.
grad: `[batch, pooled_height, pooled_width, channels]`.
output: Of the shape orig_input_shape.
ksize: As for OpByOp>AvgPool.
strides: As for OpByOp>AvgPool.
)doc");

// The average of one window, in all channels. Pixels outside of the
// image are not counted.
template <typename T>
void AverageWindow(const Windows& windows, const Window& window, const T* image,
                   T* y) {
  std::fill_n(y, windows.channels, T(0));
  for (int64_t h = window.begin_h; h < window.end_h; ++h) {
    for (int64_t w = window.begin_w; w < window.end_w; ++w) {
      const T* x = image + windows.Pixel(h, w);
      for (int64_t c = 0; c < windows.channels; ++c) y[c] += x[c];
    }
  }
  const auto count = static_cast<T>(window.Pixels());
  for (int64_t c = 0; c < windows.channels; ++c) y[c] /= count;
}

template <typename T>
class AvgPoolOp : public tensorflow::OpKernel {
 public:
  explicit AvgPoolOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("input", input.shape(), &windows));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, windows.Pooled(), &output));
    if (output->NumElements() == 0) return;
    const T* x = input.flat<T>().data();
    T* y = output->flat<T>().data();
    ShardWindows(context, windows, 0.5, [&](const Window& window) {
      AverageWindow(windows, window, x + window.image, y + window.output);
    });
  }

 private:
  Attrs attrs_;
};

// Each pixel of a window gets the same part of its gradient, here those
// of one row of the image.
template <typename T>
void ShareGradients(const Windows& windows, int64_t image, int64_t h,
                    const T* grad, T* dx) {
  const Axis& rows = windows.rows;
  const int64_t row_size = windows.columns.size * windows.channels;
  dx += (image * rows.size + h) * row_size;
  std::fill_n(dx, row_size, T(0));
  for (int64_t i = rows.FirstThatReaches(h);
       i < rows.EndOfThoseThatReach(h + 1); ++i) {
    for (int64_t j = 0; j < windows.columns.windows; ++j) {
      const Window window = windows.At(image, i, j);
      const auto count = static_cast<T>(window.Pixels());
      const T* given = grad + window.output;
      for (int64_t w = window.begin_w; w < window.end_w; ++w) {
        T* pixel = dx + w * windows.channels;
        for (int64_t c = 0; c < windows.channels; ++c) {
          pixel[c] += given[c] / count;
        }
      }
    }
  }
}

template <typename T>
class AvgPoolGradOp : public tensorflow::OpKernel {
 public:
  explicit AvgPoolGradOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& sizes = context->input(0);
    OP_REQUIRES(context, sizes.dims() == 1 && sizes.NumElements() == 4,
                absl::InvalidArgumentError(absl::StrCat(
                    "orig_input_shape must be [batch, height, width, "
                    "channels], got shape ",
                    sizes.shape().DebugString())));
    tensorflow::TensorShape shape;
    const absl::Status made = tensorflow::tensor::MakeShape(sizes, &shape);
    OP_REQUIRES(context, made.ok(),
                absl::InvalidArgumentError(absl::StrCat(
                    "orig_input_shape must be a shape: ", made.message())));
    const Tensor& grad = context->input(1);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("orig_input", shape, &windows));
    OP_REQUIRES(
        context, grad.shape() == windows.Pooled(),
        absl::InvalidArgumentError(absl::StrCat(
            "grad must have shape ", windows.Pooled().DebugString(),
            ", by orig_input_shape, ksize, strides and padding, got shape ",
            grad.shape().DebugString())));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    const Axis& rows = windows.rows;
    const T* given = grad.flat<T>().data();
    T* dx = output->flat<T>().data();
    ShardRows(context, windows.batch * rows.size,
              windows.RowNumbers() * rows.windows / rows.size,
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  ShareGradients(windows, row / rows.size, row % rows.size,
                                 given, dx);
                }
              });
  }

 private:
  Attrs attrs_;
};

#define REGISTER_AVG_POOL(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>AvgPool")              \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          AvgPoolOp<T>);                      \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>AvgPoolGrad")          \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          AvgPoolGradOp<T>)
REGISTER_AVG_POOL(float);
REGISTER_AVG_POOL(double);

}  // namespace
}  // namespace op_by_op
