// OpByOp>MaxPool: the maximum of each window of an image, where it was, and the
// gradients. MaxPoolPlain, MaxPoolPatches: the same by a plain loop, and by the
// patches of Eigen.

#define EIGEN_USE_THREADS

#include "max_pool.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The shape [batch, height, width, channels]: two dimensions change.
absl::Status InferPooled(InferenceContext* context, const char* name,
                         ShapeHandle* pooled) {
  Attrs attrs;
  TF_RETURN_IF_ERROR(attrs.Read(context));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, pooled));
  for (int axis : {1, 2}) {
    DimensionHandle size = context->Dim(*pooled, axis);
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

}  // namespace

absl::Status PoolShape(InferenceContext* context) {
  ShapeHandle pooled;
  TF_RETURN_IF_ERROR(InferPooled(context, "input", &pooled));
  for (int i = 0; i < context->num_outputs(); ++i) {
    context->set_output(i, pooled);
  }
  return absl::OkStatus();
}

namespace {

// [interface] As TensorFlow's MaxPool, with the channels last.
REGISTER_OP("OpByOp>MaxPool")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: T")
    .Output("output: T")
    .SetShapeFn(PoolShape)
    .Doc(R"doc(
Takes the maximum of each window, in each channel.

input: `[batch, height, width, channels]`.
output: `[batch, pooled_height, pooled_width, channels]`.
ksize: The size of a window in each dimension, `[1, height, width, 1]`.
strides: From one window to the next in each dimension, `[1, height, width, 1]`.
)doc");

// A kernel for each type.
#define REGISTER_MAX_POOL(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>MaxPool")              \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          PoolOp<Larger, T>)
REGISTER_MAX_POOL(Eigen::half);
REGISTER_MAX_POOL(Eigen::bfloat16);
REGISTER_MAX_POOL(float);
REGISTER_MAX_POOL(double);

// [plain] The best numbers of one window, in all channels.
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

// Of floats alone, to be compared with.
REGISTER_OP("MaxPoolPlain")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn(PoolShape)
    .Doc(R"doc(
Takes the maximum of each window, by a plain loop, to be compared with.

input: `[batch, height, width, channels]`.
output: `[batch, pooled_height, pooled_width, channels]`.
ksize: As for OpByOp>MaxPool.
strides: As for OpByOp>MaxPool.
)doc");

REGISTER_OP("MaxPoolPatches")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn(PoolShape)
    .Doc(R"doc(
Takes the maximum of each window, by the patches of Eigen, to be compared with.

input: `[batch, height, width, channels]`.
output: `[batch, pooled_height, pooled_width, channels]`.
ksize: As for OpByOp>MaxPool.
strides: As for OpByOp>MaxPool.
)doc");

class ComparedOp : public tensorflow::OpKernel {
 public:
  explicit ComparedOp(OpKernelConstruction* context) : OpKernel(context) {
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
    Pool(context, input, windows, output);
  }

 private:
  virtual void Pool(OpKernelContext* context, const Tensor& input,
                    const Windows& windows, Tensor* output) = 0;

  Attrs attrs_;
};

class MaxPoolPlainOp : public ComparedOp {
  using ComparedOp::ComparedOp;

  void Pool(OpKernelContext* context, const Tensor& input,
            const Windows& windows, Tensor* output) override {
    const float* x = input.flat<float>().data();
    float* y = output->flat<float>().data();
    ShardWindows(context, windows, 0.125, [&](const Window& window) {
      PoolWindowPlainly<Larger>(windows, window, windows.channels,
                                x + window.image, y + window.output);
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("MaxPoolPlain").Device(tensorflow::DEVICE_CPU),
                        MaxPoolPlainOp);

class MaxPoolPatchesOp : public ComparedOp {
  using ComparedOp::ComparedOp;

  // Eigen counts the dimensions from the last one: columns before rows.
  void Pool(OpKernelContext* context, const Tensor& input,
            const Windows& windows, Tensor* output) override {
    const Axis &rows = windows.rows, &columns = windows.columns;
    const auto behind = [](const Axis& axis) {
      const int64_t end = (axis.windows - 1) * axis.stride + axis.window;
      return std::max<int64_t>(end - axis.padding - axis.size, 0);
    };
    const Eigen::array<int, 2> pixels = {2, 3};
    const Eigen::array<int64_t, 3> pooled = {
        windows.batch, rows.windows * columns.windows, windows.channels};
    const Eigen::ThreadPoolDevice& device = context->eigen_cpu_device();
    output->shaped<float, 3>(pooled).device(device) =
        input.tensor<float, 4>()
            .extract_image_patches(columns.window, rows.window, columns.stride,
                                   rows.stride, 1, 1, 1, 1, columns.padding,
                                   behind(columns), rows.padding, behind(rows),
                                   std::numeric_limits<float>::lowest())
            .maximum(pixels);
  }
};
REGISTER_KERNEL_BUILDER(Name("MaxPoolPatches").Device(tensorflow::DEVICE_CPU),
                        MaxPoolPatchesOp);

REGISTER_OP("OpByOp>MaxPoolWithArgmax")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Input("input: T")
    .Output("output: T")
    .Output("argmax: int64")
    .SetShapeFn(PoolShape)
    .Doc(R"doc(
Takes the maximum of each window, and says where it was.

input: `[batch, height, width, channels]`.
output: `[batch, pooled_height, pooled_width, channels]`.
argmax: Of that shape: `(y * width + x) * channels + channel`.
ksize: As for OpByOp>MaxPool.
strides: As for OpByOp>MaxPool.
include_batch_in_index: Whether argmax counts the elements of the images before.
)doc");

// [argmax] The first of the largest numbers of a window, and its pixel. NaN
// stays if it comes first.
template <typename T>
struct Largest {
  T best[kLanes<T>];
  int32_t pixels[kLanes<T>];

  template <typename Lanes>
  Largest(const Windows& windows, const Window& window, Lanes lanes,
          const T* image) {
    const int64_t width = windows.columns.size;
    const int64_t first = window.begin_h * width + window.begin_w;
    std::copy_n(image + first * windows.channels, +lanes, best);
    std::fill_n(pixels, +lanes, static_cast<int32_t>(first));
    for (int64_t h = window.begin_h; h < window.end_h; ++h) {
      for (int64_t w = window.begin_w; w < window.end_w; ++w) {
        const auto pixel = static_cast<int32_t>(h * width + w);
        const T* x = image + pixel * windows.channels;
        for (int k = 0; k < lanes; ++k) {
          pixels[k] = best[k] < x[k] ? pixel : pixels[k];
          best[k] = Larger::Of(best[k], x[k]);
        }
      }
    }
  }
};

// The loop of MaxPool, with two outputs.
template <typename T>
class MaxPoolWithArgmaxOp : public tensorflow::OpKernel {
 public:
  explicit MaxPoolWithArgmaxOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
    OP_REQUIRES_OK(context, context->GetAttr("include_batch_in_index",
                                             &include_batch_in_index_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("input", input.shape(), &windows));
    Tensor *output = nullptr, *argmax = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, windows.Pooled(), &output));
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, windows.Pooled(), &argmax));
    if (output->NumElements() == 0) return;

    const T* x = input.flat<T>().data();
    T* y = output->flat<T>().data();
    int64_t* positions = argmax->flat<int64_t>().data();
    ShardWindows(context, windows, 2, [&](const Window& window) {
      ForChannels<T>(windows.channels, [&](auto lanes, int64_t c) {
        const Largest<T> largest(windows, window, lanes, x + window.image + c);
        std::copy_n(largest.best, +lanes, y + window.output + c);
        for (int k = 0; k < lanes; ++k) {
          positions[window.output + c + k] =
              largest.pixels[k] * windows.channels + c + k +
              include_batch_in_index_ * window.image;
        }
      });
    });
  }

 private:
  Attrs attrs_;
  bool include_batch_in_index_;
};

// Of both gradients: what went in, what came out, and a gradient.
absl::Status CheckShape(const char* name, const Tensor& tensor,
                        const TensorShape& shape, const char* reason) {
  if (tensor.shape() == shape) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must have shape ", shape.DebugString(), reason,
                   ", got shape ", tensor.shape().DebugString()));
}
constexpr char kPooled[] = ", by ksize, strides and padding";

REGISTER_OP("OpByOp>MaxPoolGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle pooled, input;
      TF_RETURN_IF_ERROR(InferPooled(context, "orig_input", &pooled));
      for (int i : {1, 2}) {
        TF_RETURN_IF_ERROR(context->Merge(context->input(i), pooled, &pooled));
      }
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &input));
      context->set_output(0, input);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Gives the gradient of each window to the pixel that was its maximum.

orig_input: `[batch, height, width, channels]`.
orig_output: `[batch, pooled_height, pooled_width, channels]`, of MaxPool.
grad: Of the same shape.
output: Of the shape of orig_input.
ksize: As for OpByOp>MaxPool.
strides: As for OpByOp>MaxPool.
)doc");

// [add] Adds what is given for a window to one pixel, in the channels where the
// window's maximum is at this pixel.
template <typename T>
void AddWhere(const int32_t* __restrict maxima, int32_t pixel,
              const T* __restrict given, int64_t channels, T* __restrict dx) {
  for (int64_t c = 0; c < channels; ++c) {
    const T all = given[c];  // read in any case: a vector is, too
    dx[c] += maxima[c] == pixel ? all : T(0);
  }
}

// [grad] The rows of the gradient from begin to end, those of all images
// counted on. `kept` has the places of the maxima of the windows that reach a
// row.
template <typename T>
void AddGradients(const Windows& windows, const T* x, const T* grad,
                  int64_t begin, int64_t end, T* dx) {
  const Axis &rows = windows.rows, &columns = windows.columns;
  const int64_t channels = windows.channels;
  const int64_t row_size = columns.windows * channels;
  const int64_t most = rows.MostThatReachOne();
  std::vector<int32_t> kept(most * row_size);
  int64_t found = 0;  // the next row of windows to look at
  for (int64_t row = begin; row < end; ++row) {
    const int64_t h = row % rows.size;
    const int64_t before = row / rows.size * rows.windows;
    const int64_t first = before + rows.FirstThatReaches(h);
    const int64_t last = before + rows.EndOfThoseThatReach(h + 1);
    for (found = std::max(found, first); found < last; ++found) {
      int32_t* maxima = kept.data() + found % most * row_size;
      const int64_t start = found * row_size;
      ForWindowsPlainly(windows, found, found + 1, [=](const Window& window) {
        ForChannels<T>(channels, [=](auto lanes, int64_t c) {
          const Largest<T> largest(windows, window, lanes,
                                   x + window.image + c);
          std::copy_n(largest.pixels, +lanes,
                      maxima + window.output - start + c);
        });
      });
    }
    T* sums = dx + row * columns.size * channels;
    std::fill_n(sums, columns.size * channels, T(0));
    for (int64_t i = first; i < last; ++i) {
      const int32_t* maxima = kept.data() + i % most * row_size;
      const T* given = grad + i * row_size;
      for (int64_t j = 0; j < columns.windows; ++j) {
        for (int64_t w = columns.Begin(j); w < columns.End(j); ++w) {
          const auto pixel = static_cast<int32_t>(h * columns.size + w);
          AddWhere(maxima + j * channels, pixel, given + j * channels, channels,
                   sums + w * channels);
        }
      }
    }
  }
}

// The kernel around it.
template <typename T>
class MaxPoolGradOp : public tensorflow::OpKernel {
 public:
  explicit MaxPoolGradOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    const Tensor& grad = context->input(2);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("orig_input", input.shape(), &windows));
    const TensorShape pooled = windows.Pooled();
    OP_REQUIRES_OK(
        context, CheckShape("orig_output", context->input(1), pooled, kPooled));
    OP_REQUIRES_OK(context, CheckShape("grad", grad, pooled, kPooled));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    if (output->NumElements() == 0) return;
    const Axis& rows = windows.rows;
    ShardRows(context, windows.batch * rows.size,
              3 * windows.RowNumbers() * rows.windows / rows.size,
              [&](int64_t begin, int64_t end) {
                RunWide([&] {
                  AddGradients(windows, input.flat<T>().data(),
                               grad.flat<T>().data(), begin, end,
                               output->flat<T>().data());
                });
              });
  }

 private:
  Attrs attrs_;
};

REGISTER_OP("OpByOp>MaxPoolGradGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle pooled, input;
      TF_RETURN_IF_ERROR(InferPooled(context, "orig_input", &pooled));
      TF_RETURN_IF_ERROR(context->Merge(context->input(1), pooled, &pooled));
      TF_RETURN_IF_ERROR(
          context->Merge(context->input(0), context->input(2), &input));
      context->set_output(0, pooled);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Takes from grad, for each window, the number at the pixel that was its maximum.

orig_input: `[batch, height, width, channels]`.
orig_output: `[batch, pooled_height, pooled_width, channels]`, of MaxPool.
grad: Of the shape of orig_input.
output: Of the shape of orig_output; 0 where no pixel equals the maximum.
ksize: As for OpByOp>MaxPool.
strides: As for OpByOp>MaxPool.
)doc");

// The first pixel that equals the maximum; NaN equals none.
template <typename T>
T AtMaximum(const Windows& windows, const Window& window, const T* image,
            T maximum, const T* grad) {
  for (int64_t h = window.begin_h; h < window.end_h; ++h) {
    for (int64_t w = window.begin_w; w < window.end_w; ++w) {
      const int64_t at = windows.Pixel(h, w);
      if (image[at] == maximum) return grad[at];
    }
  }
  return T(0);
}

template <typename T>
class MaxPoolGradGradOp : public tensorflow::OpKernel {
 public:
  explicit MaxPoolGradGradOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    const Tensor& pooled = context->input(1);
    const Tensor& grad = context->input(2);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("orig_input", input.shape(), &windows));
    OP_REQUIRES_OK(
        context, CheckShape("orig_output", pooled, windows.Pooled(), kPooled));
    OP_REQUIRES_OK(context,
                   CheckShape("grad", grad, input.shape(), ", as orig_input"));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, pooled.shape(), &output));
    if (output->NumElements() == 0) return;
    const T* x = input.flat<T>().data();
    const T* y = pooled.flat<T>().data();
    const T* dx = grad.flat<T>().data();
    T* dy = output->flat<T>().data();
    ShardWindows(context, windows, 3, [&](const Window& window) {
      for (int64_t c = 0; c < windows.channels; ++c) {
        const int64_t from = window.image + c, to = window.output + c;
        dy[to] = AtMaximum(windows, window, x + from, y[to], dx + from);
      }
    });
  }

 private:
  Attrs attrs_;
};

#define REGISTER_OTHER(NAME, KERNEL, T)                                 \
  REGISTER_KERNEL_BUILDER(                                              \
      Name(NAME).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      KERNEL<T>)
#define REGISTER_OTHERS(T)                                            \
  REGISTER_OTHER("OpByOp>MaxPoolWithArgmax", MaxPoolWithArgmaxOp, T); \
  REGISTER_OTHER("OpByOp>MaxPoolGrad", MaxPoolGradOp, T);             \
  REGISTER_OTHER("OpByOp>MaxPoolGradGrad", MaxPoolGradGradOp, T)
REGISTER_OTHERS(Eigen::half);
REGISTER_OTHERS(Eigen::bfloat16);
REGISTER_OTHERS(float);
REGISTER_OTHERS(double);

// The gradient as a function: it pools again, as it is not given the
// output.
absl::Status GradientOfMaxPool(const tensorflow::AttrSlice& /*attrs*/,
                               tensorflow::FunctionDef* function) {
  const std::vector<
      std::pair<std::string, tensorflow::FunctionDefHelper::AttrValueWrapper>>
      attrs = {{"T", "$T"},
               {"ksize", "$ksize"},
               {"strides", "$strides"},
               {"padding", "$padding"}};
  *function = tensorflow::FunctionDefHelper::Create(
      "GradientOfMaxPool", {"input: T", "dy: T"}, {"dx: T"},
      {"T: {half, bfloat16, float, double}", "ksize: list(int) >= 4",
       "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}"},
      {
          {{"pool"}, "OpByOp>MaxPool", {"input"}, attrs},
          {{"grad"},
           "OpByOp>MaxPoolGrad",
           {"input", "pool:output:0", "dy"},
           attrs},
      },
      {{"dx", "grad:output:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>MaxPool", GradientOfMaxPool);

}  // namespace
}  // namespace op_by_op
