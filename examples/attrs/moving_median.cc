// MovingMedian: the median of a window that slides along a signal.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "median.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

// [check] What the interface cannot express.
absl::Status CheckOdd(int64_t window) {
  if (window % 2 == 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("window must be odd, but is ", window));
}

// [interface] T follows from the signal; the caller chooses the window.
REGISTER_OP("MovingMedian")
    .Attr("T: {float, double}")
    .Attr("window: int >= 1 = 3")
    .Input("signal: T")
    .Output("medians: T")
    // [shape] As many medians as elements; the window is known by now.
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      int64_t window;
      TF_RETURN_IF_ERROR(context->GetAttr("window", &window));
      TF_RETURN_IF_ERROR(CheckOdd(window));
      context->set_output(0, context->input(0));
      return absl::OkStatus();
    })
    // [doc] What Python shows to users.
    .Doc(R"doc(
The median of a window that slides along the last axis; its ends are repeated.

signal: Any number of axes.
medians: Of the same shape; NaN where the window has a NaN.
window: How many elements a window has: odd, and at most the length of the last axis.
)doc");

// [kernel] The constructor reads the attr, Compute the tensors.
template <typename T>
class MovingMedianOp : public tensorflow::OpKernel {
 public:
  explicit MovingMedianOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
    OP_REQUIRES_OK(context, CheckOdd(window_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& signal = context->input(0);
    const auto in = signal.flat_inner_dims<T>();  // [rows, length]
    const int64_t length = in.dimension(1);
    OP_REQUIRES(context, window_ <= length,
                absl::InvalidArgumentError(absl::StrCat(
                    "window must be at most the length of signal, ", length,
                    ", but is ", window_)));
    tensorflow::Tensor* medians = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, signal.shape(), &medians));
    if (medians->NumElements() == 0) return;
    auto out = medians->flat_inner_dims<T>();

    const tsl::port::ScopedDontFlushDenormal keep;  // subnormals are not 0
    std::vector<T> values(window_);
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      for (int64_t i = 0; i < length; ++i) {
        for (int64_t k = 0; k < window_; ++k) {
          const int64_t place = i + k - window_ / 2;
          values[k] = in(row, std::clamp<int64_t>(place, 0, length - 1));
        }
        out(row, i) = Median(values.data(), window_);
      }
    }
  }

 private:
  int64_t window_;
};

// T chooses the class, window does not.
REGISTER_KERNEL_BUILDER(Name("MovingMedian")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        MovingMedianOp<float>);
REGISTER_KERNEL_BUILDER(Name("MovingMedian")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        MovingMedianOp<double>);

}  // namespace
}  // namespace op_by_op
