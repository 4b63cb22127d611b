// SlidingMax, step 7: a better loop.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace sliding_max {
namespace {

REGISTER_OP("SlidingMax7")
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

// NaN is greater than every number, as in NumPy.
template <typename T>
bool Greater(T a, T b) {
  return a > b || (a != a && b == b);
}

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

template <typename T>
class SlidingMaxOp : public tensorflow::OpKernel {
 public:
  explicit SlidingMaxOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
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
    auto y = output->flat_inner_dims<T>();
    auto position = positions->flat_inner_dims<int64_t>();
    const tsl::port::ScopedDontFlushDenormal keep;
    for (int64_t row = 0; row < x.dimension(0); ++row) {
      for (int64_t block = 0; block < windows; block += window_) {
        MaxOfBlock(&x(row, 0), x.dimension(1), window_, block, &y(row, 0),
                   &position(row, 0));
      }
    }
  }

 private:
  int64_t window_;
};

#define REGISTER_SLIDING_MAX(T)                               \
  REGISTER_KERNEL_BUILDER(Name("SlidingMax7")                 \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxOp<T>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_SLIDING_MAX)

}  // namespace
}  // namespace sliding_max
