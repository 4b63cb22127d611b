// OpByOp>MaxPool: the maximum of each window of an image, where it was, and the
// gradients. MaxPoolPlain, MaxPoolPatches: the same by a plain loop, and by the
// patches of Eigen.

#define EIGEN_USE_THREADS

#include "max_pool.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/types.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// As TensorFlow's MaxPool, with the channels last.
REGISTER_OP("OpByOp>MaxPool")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: T")
    .Output("output: T")
    .Output("place: uint8")
    .SetShapeFn([](InferenceContext* context) {
      Attrs attrs;
      TF_RETURN_IF_ERROR(attrs.Read(context));
      TF_RETURN_IF_ERROR(PoolShape(context));
      if (!attrs.FitByte()) context->set_output(1, context->Vector(0));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Takes the maximum of each window, in each channel.

input: `[batch, height, width, channels]`.
output: `[batch, pooled_height, pooled_width, channels]`.
place: Which pixel of its window each maximum is, row by row, for the gradient.
  Empty if a window has more than 256 pixels.
ksize: The size of a window in each dimension, `[1, height, width, 1]`.
strides: From one window to the next in each dimension, `[1, height, width, 1]`.
)doc");

// Baselines of the benchmark, for float32 only.
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

// The first of the largest numbers of a window, and how many pixels
// after the window's first, if a row has `width`. NaN stays if it comes first.
template <typename T>
struct Largest {
  T best[kLanes<T>];
  int32_t places[kLanes<T>];

  template <typename Lanes>
  Largest(const Windows& windows, const Window& window, Lanes lanes,
          const T* image, int64_t width) {
    std::copy_n(image + windows.Pixel(window.begin_h, window.begin_w), +lanes,
                best);
    std::fill_n(places, +lanes, 0);
    for (int64_t h = window.begin_h; h < window.end_h; ++h) {
      for (int64_t w = window.begin_w; w < window.end_w; ++w) {
        const auto place = static_cast<int32_t>((h - window.begin_h) * width +
                                                (w - window.begin_w));
        const T* x = image + windows.Pixel(h, w);
        for (int k = 0; k < lanes; ++k) {
          const int32_t larger = -(best[k] < x[k]);  // all bits or none
          places[k] = (place & larger) | (places[k] & ~larger);
          best[k] = Larger::Of(best[k], x[k]);
        }
      }
    }
  }
};

// Where to write what is Largest: `places`, or `y` and `positions`, those of
// MaxPoolWithArgmax.
template <typename T>
struct Found {
  int32_t* places = nullptr;
  T* y = nullptr;
  int64_t* positions = nullptr;
  bool include_batch_in_index = false;
};

// The loop of MaxPool. It is compiled once for both, as that takes long.
template <typename T>
void FindLargest(OpKernelContext* context, const Windows& windows,
                 double cycles, const T* x, const Found<T>& found) {
  const int64_t width =
      found.places ? windows.columns.Most() : windows.columns.size;
  const auto work = [&](const Window& window, auto lanes, int64_t c) {
    const Largest<T> largest(windows, window, lanes, x + window.image + c,
                             width);
    const int64_t at = window.output + c;
    if (found.places) {
      std::copy_n(largest.places, +lanes, found.places + at);
      return;
    }
    const int64_t first = windows.Pixel(window.begin_h, window.begin_w) +
                          found.include_batch_in_index * window.image;
    std::copy_n(largest.best, +lanes, found.y + at);
    for (int k = 0; k < lanes; ++k) {
      found.positions[at + k] =
          first + largest.places[k] * windows.channels + c + k;
    }
  };
  ShardBlocks<T>(context, windows, cycles, work);
}

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

    Found<T> found;
    found.y = output->flat<T>().data();
    found.positions = argmax->flat<int64_t>().data();
    found.include_batch_in_index = include_batch_in_index_;
    FindLargest(context, windows, 0.5, input.flat<T>().data(), found);
  }

 private:
  Attrs attrs_;
  bool include_batch_in_index_;
};

// In a function of its own, since few windows have NaN.
template <typename T>
__attribute__((noinline)) void PoolNan(const Windows& windows,
                                       const Window& window, int lanes,
                                       const T* image, T* y) {
  PoolWindow<Larger>(windows, window, lanes, image, y);
}

// The maxima of a window as MaxPool has them, and the places of Largest.
template <typename T, typename Lanes>
void PoolAndNote(const Windows& windows, const Window& window, Lanes lanes,
                 const T* image, T* y, uint8_t* places) {
  const Largest<T> largest(windows, window, lanes, image,
                           windows.columns.Most());
  std::copy_n(largest.places, +lanes, places);
  int32_t nan = 0;
  for (int k = 0; k < lanes; ++k) nan |= -(largest.best[k] != largest.best[k]);
  if (nan != 0) return PoolNan(windows, window, lanes, image, y);
  for (int k = 0; k < lanes; ++k) {
    y[k] = Larger::Of(Larger::Start<T>(), largest.best[k]);
  }
}

template <typename T>
class MaxPoolOp : public tensorflow::OpKernel {
 public:
  explicit MaxPoolOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, attrs_.Read(context));
  }

  // The places cost nothing where no node reads them.
  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("input", input.shape(), &windows));
    const TensorShape pooled = windows.Pooled();
    Tensor *output = nullptr, *place = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, pooled, &output));
    const T* x = input.flat<T>().data();
    T* y = output->flat<T>().data();
    const bool noted = context->output_required(1) && attrs_.FitByte();
    OP_REQUIRES_OK(context, context->allocate_output(
                                1, noted ? pooled : TensorShape{0}, &place));
    if (output->NumElements() == 0) return;
    if (!noted) return Pool<Larger>(context, windows, x, y);
    uint8_t* places = place->flat<uint8_t>().data();
    const auto work = [&](const Window& window, auto lanes, int64_t c) {
      PoolAndNote(windows, window, lanes, x + window.image + c,
                  y + window.output + c, places + window.output + c);
    };
    ShardBlocks<T>(context, windows, 0.25, work);
  }

 private:
  Attrs attrs_;
};

// Checks an input of a gradient.
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
    .Input("place: uint8")
    .Output("output: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle pooled, input;
      TF_RETURN_IF_ERROR(
          InferPooled(context, "orig_input", context->input(0), &pooled));
      for (int i : {1, 2}) {
        TF_RETURN_IF_ERROR(context->Merge(context->input(i), pooled, &pooled));
      }
      const ShapeHandle place = context->input(3);
      if (context->FullyDefined(place) &&
          context->Value(context->NumElements(place)) > 0) {
        TF_RETURN_IF_ERROR(context->Merge(place, pooled, &pooled));
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
place: Of the same shape, of MaxPool, or empty: then the maxima are looked for.
output: Of the shape of orig_input.
ksize: As for OpByOp>MaxPool.
strides: As for OpByOp>MaxPool.
)doc");

// [add] Adds what is given for a window to one of its pixels, in the channels
// where the window's maximum is at this pixel.
template <typename T, typename Place, typename Lanes>
void AddWhere(const Place* places, int64_t place, const T* given, Lanes lanes,
              T* sums) {
  const auto here = static_cast<Place>(place);
  for (int k = 0; k < lanes; ++k) {
    const T all = given[k];  // loaded unconditionally, as vectors are
    sums[k] += places[k] == here ? all : T(0);
  }
}

// The same for a pixel that no other window reaches.
template <typename T, typename Place>
void GiveWhere(const Place* places, int64_t place, const T* given,
               int64_t channels, T* dx) {
  const auto here = static_cast<Place>(place);
  for (int64_t k = 0; k < channels; ++k) {
    const T all = given[k];
    dx[k] = T(0) + (places[k] == here ? all : T(0));  // no -0, as in a sum
  }
}

// [gradient] One row of the gradient of an image.
template <typename T, typename Place>
void AddGradients(const Windows& windows, int64_t image, int64_t h,
                  const Place* places, const T* grad, T* dx) {
  const Axis &rows = windows.rows, &columns = windows.columns;
  const int64_t channels = windows.channels, width = columns.Most();
  dx += (image * rows.size + h) * columns.size * channels;
  const int64_t first_i = rows.FirstThatReaches(h);
  const int64_t end_i = rows.EndOfThoseThatReach(h + 1);
  const auto place = [&](int64_t i, int64_t j, int64_t w) {
    return (h - rows.Begin(i)) * width + (w - columns.Begin(j));
  };
  for (int64_t w = 0; w < columns.size; ++w, dx += channels) {
    const int64_t first_j = columns.FirstThatReaches(w);
    const int64_t end_j = columns.EndOfThoseThatReach(w + 1);
    if (end_i - first_i == 1 && end_j - first_j == 1) {
      const int64_t at = windows.At(image, first_i, first_j).output;
      GiveWhere(places + at, place(first_i, first_j, w), grad + at, channels,
                dx);
      continue;
    }
    ForChannels<T>(channels, [&](auto lanes, int64_t c) {
      T sums[kLanes<T>];
      std::fill_n(sums, +lanes, T(0));
      for (int64_t i = first_i; i < end_i; ++i) {
        for (int64_t j = first_j; j < end_j; ++j) {
          const int64_t at = windows.At(image, i, j).output + c;
          AddWhere(places + at, place(i, j, w), grad + at, lanes, sums);
        }
      }
      std::copy_n(sums, +lanes, dx + c);
    });
  }
}

// Threads share the rows of all images.
template <typename T, typename Place>
void ShardGradients(OpKernelContext* context, const Windows& windows,
                    const Place* places, const T* grad, T* dx) {
  const Axis& rows = windows.rows;
  ShardRows(context, windows.batch * rows.size,
            windows.RowNumbers() * rows.windows / rows.size / 2,
            [&](int64_t begin, int64_t end) {
              RunWide([&] {
                for (int64_t row = begin; row < end; ++row) {
                  AddGradients(windows, row / rows.size, row % rows.size,
                               places, grad, dx);
                }
              });
            });
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
    const Tensor& place = context->input(3);
    Windows windows;
    OP_REQUIRES_OK(context, attrs_.Of("orig_input", input.shape(), &windows));
    const TensorShape pooled = windows.Pooled();
    OP_REQUIRES_OK(
        context, CheckShape("orig_output", context->input(1), pooled, kPooled));
    OP_REQUIRES_OK(context, CheckShape("grad", grad, pooled, kPooled));
    const bool noted = place.NumElements() > 0;
    if (noted) {
      OP_REQUIRES_OK(context, CheckShape("place", place, pooled, kPooled));
      OP_REQUIRES(context, attrs_.FitByte(),
                  absl::InvalidArgumentError(
                      "place must be empty, as windows have more than 256 "
                      "pixels"));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    if (output->NumElements() == 0) return;
    const T* given = grad.flat<T>().data();
    T* dx = output->flat<T>().data();
    if (noted) {
      return ShardGradients(context, windows, place.flat<uint8_t>().data(),
                            given, dx);
    }
    Tensor places;
    OP_REQUIRES_OK(
        context, context->allocate_temp(tensorflow::DT_INT32, pooled, &places));
    Found<T> found;
    found.places = places.flat<int32_t>().data();
    FindLargest(context, windows, 0.25, input.flat<T>().data(), found);
    ShardGradients(context, windows, found.places, given, dx);
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
      TF_RETURN_IF_ERROR(
          InferPooled(context, "orig_input", context->input(0), &pooled));
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

#define REGISTER_POOL(NAME, KERNEL, T)                                  \
  REGISTER_KERNEL_BUILDER(                                              \
      Name(NAME).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      KERNEL<T>)
#define REGISTER_ALL(T)                                              \
  REGISTER_POOL("OpByOp>MaxPool", MaxPoolOp, T);                     \
  REGISTER_POOL("OpByOp>MaxPoolWithArgmax", MaxPoolWithArgmaxOp, T); \
  REGISTER_POOL("OpByOp>MaxPoolGrad", MaxPoolGradOp, T);             \
  REGISTER_POOL("OpByOp>MaxPoolGradGrad", MaxPoolGradGradOp, T)
REGISTER_ALL(Eigen::half);
REGISTER_ALL(Eigen::bfloat16);
REGISTER_ALL(float);
REGISTER_ALL(double);

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
      "GradientOfMaxPool", {"input: T", "dy: T", "dplace: uint8"}, {"dx: T"},
      {"T: {half, bfloat16, float, double}", "ksize: list(int) >= 4",
       "strides: list(int) >= 4", "padding: {'SAME', 'VALID'}"},
      {
          {{"pool"}, "OpByOp>MaxPool", {"input"}, attrs},
          {{"grad"},
           "OpByOp>MaxPoolGrad",
           {"input", "pool:output:0", "dy", "pool:place:0"},
           attrs},
      },
      {{"dx", "grad:output:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>MaxPool", GradientOfMaxPool);

}  // namespace
}  // namespace op_by_op
