// SlidingMax: the maximum of each window of the last axis, and its position.

#include "sliding_max.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/overflow.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"
#include "xla/stream_executor/stream.h"

// __init__.py reads this before it loads the library.
extern "C" __attribute__((used)) const char kBuiltFor[] =
    "built for TensorFlow " BUILT_FOR;

namespace sliding_max {
namespace {

using tensorflow::OpKernelContext;

REGISTER_OP("SlidingMax")
    .Attr("T: realnumbertype")
    .Attr("window: int >= 1")
    .Input("x: T")
    .Output("y: T")
    .Output("position: int64")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      auto shape = context->input(0);
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(shape, 1, &shape));
      int64_t window;
      TF_RETURN_IF_ERROR(context->GetAttr("window", &window));
      auto windows = context->Dim(shape, -1);
      if (context->ValueKnown(windows) && context->Value(windows) < window) {
        return absl::InvalidArgumentError(absl::StrCat(
            "SlidingMax: x has rows shorter than window=", window));
      }
      TF_RETURN_IF_ERROR(context->Subtract(windows, window - 1, &windows));
      TF_RETURN_IF_ERROR(context->ReplaceDim(shape, -1, windows, &shape));
      context->set_output(0, shape);
      context->set_output(1, shape);
      return absl::OkStatus();
    });

REGISTER_OP("SlidingMaxGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("window: int >= 1")
    .Input("grad: T")
    .Input("position: int64")
    .Output("grad_of_x: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      auto shape = context->input(0);
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(shape, 1, &shape));
      TF_RETURN_IF_ERROR(context->Merge(shape, context->input(1), &shape));
      int64_t window;
      TF_RETURN_IF_ERROR(context->GetAttr("window", &window));
      auto n = context->Dim(shape, -1);
      TF_RETURN_IF_ERROR(context->Add(n, window - 1, &n));
      TF_RETURN_IF_ERROR(context->ReplaceDim(shape, -1, n, &shape));
      context->set_output(0, shape);
      return absl::OkStatus();
    });

// The first maximum of each window that begins in a block, a piece of a row as
// long as a window. Such a window ends in this block or in the next one.
template <typename T>
void MaxOfBlock(const T* x, int64_t n, int64_t window, int64_t block, T* y,
                int64_t* position) {
  const int64_t windows = n - window + 1;
  const int64_t next = block + window;
  int64_t best = next - 1;
  for (int64_t i = next - 1; i >= block; --i) {
    if (!Greater(x[best], x[i])) best = i;  // the first maximum of [i, next)
    if (i < windows) position[i] = best;    // the row's last begin no window
  }
  y[block] = x[position[block]];  // the one window without the next block
  best = next;  // may be the row's end, where the loop below does not run
  for (int64_t i = block + 1; i < std::min(next, windows); ++i) {
    const int64_t newest = i + window - 1;
    if (Greater(x[newest], x[best])) best = newest;  // of [next, newest]
    if (Greater(x[best], x[position[i]])) position[i] = best;
    y[i] = x[position[i]];
  }
}

// Adds each gradient of a row at its position: those of 16 bits as floats.
template <typename T, typename Sum>
void AddRow(const T* grad, const int64_t* position, Sizes sizes, Sum* sums) {
  std::fill_n(sums, sizes.n, Sum(0));
  for (int64_t i = 0; i < sizes.windows; ++i) {
    const int64_t place = position[i];
    if (place >= i && place < i + sizes.window) {
      sums[place] += static_cast<Sum>(grad[i]);
    }
  }
}

// Max shares blocks among the cores. Grad shares rows: gradients of one block
// may go to elements of the next.
struct Cpu {
  template <typename T>
  static absl::Status Max(OpKernelContext* context, const T* x, Sizes sizes,
                          T* y, int64_t* position) {
    const int64_t blocks = sizes.n / sizes.window;  // of a row
    Share(context, sizes.rows * blocks, sizes.window,
          [=](int64_t first, int64_t end) {
            int64_t row = first / blocks, block = first % blocks;
            for (int64_t k = first; k < end; ++k) {
              MaxOfBlock(x + row * sizes.n, sizes.n, sizes.window,
                         block * sizes.window, y + row * sizes.windows,
                         position + row * sizes.windows);
              if (++block == blocks) {
                ++row;
                block = 0;
              }
            }
          });
    return absl::OkStatus();
  }

  template <typename T>
  static absl::Status Grad(OpKernelContext* context, const T* grad,
                           const int64_t* position, Sizes sizes, T* grad_of_x) {
    Share(context, sizes.rows, sizes.n, [=](int64_t first, int64_t end) {
      std::vector<float> sums(sizeof(T) == 2 ? sizes.n : 0);
      for (int64_t row = first; row < end; ++row) {
        const T* given = grad + row * sizes.windows;
        const int64_t* place = position + row * sizes.windows;
        T* result = grad_of_x + row * sizes.n;
        if constexpr (sizeof(T) == 2) {
          AddRow(given, place, sizes, sums.data());
          std::transform(sums.begin(), sums.end(), result,
                         [](float sum) { return static_cast<T>(sum); });
        } else {
          AddRow(given, place, sizes, result);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  // Pieces of so many elements.
  template <typename Work>
  static void Share(OpKernelContext* context, int64_t pieces, int64_t elements,
                    Work work) {
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    const int64_t cycles_of_a_piece = 10 * elements;
    tensorflow::Shard(workers.num_threads, workers.workers, pieces,
                      cycles_of_a_piece, [&](int64_t first, int64_t end) {
                        const tsl::port::ScopedDontFlushDenormal keep;
                        work(first, end);
                      });
  }
};

#ifdef WITH_CUDA
// Puts the work onto TensorFlow's stream.
struct Gpu {
  template <typename T>
  static absl::Status Max(OpKernelContext* context, const T* x, Sizes sizes,
                          T* y, int64_t* position) {
    return Launched(Launch(Stream(context), x, sizes, y, position));
  }

  template <typename T>
  static absl::Status Grad(OpKernelContext* context, const T* grad,
                           const int64_t* position, Sizes sizes, T* grad_of_x) {
    return Launched(
        LaunchGrad(Stream(context), grad, position, sizes, grad_of_x));
  }

 private:
  static void* Stream(OpKernelContext* context) {
    return context->op_device_context()
        ->stream()
        ->platform_specific_handle()
        .stream;
  }

  static absl::Status Launched(const char* error) {
    return error == nullptr
               ? absl::OkStatus()
               : absl::InternalError(absl::StrCat("CUDA says: ", error));
  }
};
#endif

template <typename Device, typename T>
class SlidingMaxOp : public tensorflow::OpKernel {
 public:
  explicit SlidingMaxOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
  }

  void Compute(OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    const int last = input.dims() - 1;
    OP_REQUIRES(
        context, last >= 0 && input.dim_size(last) >= window_,
        absl::InvalidArgumentError(absl::StrCat(
            "SlidingMax: x needs rows of at least window=", window_,
            " elements, but has the shape ", input.shape().DebugString())));
    const int64_t windows = input.dim_size(last) - window_ + 1;
    tensorflow::TensorShape shape = input.shape();
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(last, windows));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    tensorflow::Tensor* positions = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &positions));

    const auto x = input.flat_inner_dims<T>();
    if (x.dimension(0) == 0) return;
    const Sizes sizes = {x.dimension(0), x.dimension(1), window_, windows};
    OP_REQUIRES_OK(
        context, Device::Max(context, x.data(), sizes, output->flat<T>().data(),
                             positions->flat<int64_t>().data()));
  }

 private:
  int64_t window_;
};

template <typename Device, typename T>
class SlidingMaxGradOp : public tensorflow::OpKernel {
 public:
  explicit SlidingMaxGradOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
  }

  void Compute(OpKernelContext* context) override {
    const tensorflow::Tensor& grad = context->input(0);
    const tensorflow::Tensor& position = context->input(1);
    const int last = grad.dims() - 1;
    OP_REQUIRES(context, last >= 0 && grad.shape() == position.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "SlidingMaxGrad: grad and position need the same shape "
                    "and at least one dimension, but have ",
                    grad.shape().DebugString(), " and ",
                    position.shape().DebugString())));
    const auto rows = grad.flat_inner_dims<T>();
    // Negative if the sum does not fit, and then no size of a tensor.
    const int64_t n =
        tensorflow::AddWithoutOverflow(rows.dimension(1), window_ - 1);
    const Sizes sizes = {rows.dimension(0), n, window_, rows.dimension(1)};
    tensorflow::TensorShape shape = grad.shape();
    OP_REQUIRES(context, shape.SetDimWithStatus(last, n).ok(),
                absl::InvalidArgumentError(absl::StrCat(
                    "SlidingMaxGrad: window=", window_, " is too large")));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    OP_REQUIRES_OK(context, Device::Grad(context, rows.data(),
                                         position.flat<int64_t>().data(), sizes,
                                         output->flat<T>().data()));
  }

 private:
  int64_t window_;
};

#define REGISTER_MAX(T)                                       \
  REGISTER_KERNEL_BUILDER(Name("SlidingMax")                  \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxOp<Cpu, T>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_MAX)

#define REGISTER_GRAD(T)                                      \
  REGISTER_KERNEL_BUILDER(Name("SlidingMaxGrad")              \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxGradOp<Cpu, T>);
TF_CALL_FLOAT_TYPES(REGISTER_GRAD)

#ifdef WITH_CUDA
#define REGISTER_GPU(T)                                       \
  REGISTER_KERNEL_BUILDER(Name("SlidingMax")                  \
                              .Device(tensorflow::DEVICE_GPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxOp<Gpu, T>);              \
  REGISTER_KERNEL_BUILDER(Name("SlidingMaxGrad")              \
                              .Device(tensorflow::DEVICE_GPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxGradOp<Gpu, T>);
TF_CALL_float(REGISTER_GPU) TF_CALL_double(REGISTER_GPU)
#endif

}  // namespace
}  // namespace sliding_max
