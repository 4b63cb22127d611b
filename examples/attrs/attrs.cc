// MedianFilter: MovingMedian with a second attr, which can change the shape.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "median.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"
#include "window.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] T follows from the signal; the caller sets window and ends.
REGISTER_OP("MedianFilter")
    .Attr("T: {float, double}")
    .Attr("window: int >= 1 = 3")
    .Attr("ends: {'repeat', 'drop'} = 'repeat'")
    .Input("signal: T")
    .Output("filtered: T")
    // [shape] When a graph is traced: the attrs are known, the length may be.
    .SetShapeFn([](InferenceContext* context) -> absl::Status {
      int64_t window;
      std::string ends;
      TF_RETURN_IF_ERROR(context->GetAttr("window", &window));
      TF_RETURN_IF_ERROR(context->GetAttr("ends", &ends));
      TF_RETURN_IF_ERROR(CheckOdd(window));
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(
          context->WithRankAtLeast(context->input(0), 1, &shape));
      DimensionHandle length = context->Dim(shape, -1);
      if (context->ValueKnown(length)) {
        TF_RETURN_IF_ERROR(CheckFits(window, context->Value(length)));
      }
      if (ends == "drop") {
        TF_RETURN_IF_ERROR(context->Subtract(length, window - 1, &length));
        TF_RETURN_IF_ERROR(context->ReplaceDim(shape, -1, length, &shape));
      }
      context->set_output(0, shape);
      return absl::OkStatus();
    })
    // [doc] What Python shows to users.
    .Doc(R"doc(
The median of a window that slides along the last axis.

signal: At least one axis.
filtered: As many medians along the last axis, or window - 1 fewer if the ends are dropped.
window: How many elements a window has: odd, and at most the length of the last axis.
ends: Beyond an end, 'repeat' the outermost element, or 'drop' the windows that reach there.
)doc");

// The constructor reads the attrs, Compute the tensors.
template <typename T>
class MedianFilterOp : public tensorflow::OpKernel {
 public:
  explicit MedianFilterOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    std::string ends;
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
    OP_REQUIRES_OK(context, context->GetAttr("ends", &ends));
    OP_REQUIRES_OK(context, CheckOdd(window_));
    repeat_ = ends == "repeat";
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() >= 1,
                absl::InvalidArgumentError(
                    "signal must have at least one axis, but is a scalar"));
    const int last_axis = signal.dims() - 1;
    const int64_t length = signal.dim_size(last_axis);
    OP_REQUIRES_OK(context, CheckFits(window_, length));

    // [allocate] Without the ends, the last axis is shorter.
    tensorflow::TensorShape shape = signal.shape();
    if (!repeat_) {
      OP_REQUIRES_OK(context,
                     shape.SetDimWithStatus(last_axis, length - window_ + 1));
    }
    tensorflow::Tensor* filtered = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &filtered));
    // []
    if (filtered->NumElements() == 0) return;
    tensorflow::Tensor scratch;
    OP_REQUIRES_OK(context,
                   context->allocate_temp(signal.dtype(), {window_}, &scratch));
    const tsl::port::ScopedDontFlushDenormal keep;  // subnormals are not 0
    Filter(signal, scratch.flat<T>().data(), filtered);
  }

 private:
  // Every median of every row. Median reorders its values, so it gets a copy.
  void Filter(const tensorflow::Tensor& signal, T* values,
              tensorflow::Tensor* filtered) const {
    const auto in = signal.flat_inner_dims<T>();  // [rows, length]
    auto out = filtered->flat_inner_dims<T>();    // [rows, medians]
    const int64_t first = repeat_ ? -(window_ / 2) : 0;
    const int64_t end = in.dimension(1) - 1;
    for (int64_t row = 0; row < out.dimension(0); ++row) {
      for (int64_t i = 0; i < out.dimension(1); ++i) {
        for (int64_t k = 0; k < window_; ++k) {
          values[k] = in(row, std::clamp<int64_t>(first + i + k, 0, end));
        }
        out(row, i) = Median(values, window_);
      }
    }
  }

  int64_t window_;
  bool repeat_;
};

// T chooses the class, the other attrs do not.
REGISTER_KERNEL_BUILDER(Name("MedianFilter")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        MedianFilterOp<float>);
REGISTER_KERNEL_BUILDER(Name("MedianFilter")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        MedianFilterOp<double>);

}  // namespace
}  // namespace op_by_op
