// SlidingMax, step 5: a second output, where each maximum is.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace sliding_max {
namespace {

REGISTER_OP("SlidingMax5")
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
    for (int64_t row = 0; row < x.dimension(0); ++row) {
      for (int64_t i = 0; i < windows; ++i) {
        int64_t best = i;
        for (int64_t j = i + 1; j < i + window_; ++j) {
          if (x(row, j) > x(row, best)) best = j;
        }
        y(row, i) = x(row, best);
        position(row, i) = best;
      }
    }
  }

 private:
  int64_t window_;
};

#define REGISTER_SLIDING_MAX(T)                               \
  REGISTER_KERNEL_BUILDER(Name("SlidingMax5")                 \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxOp<T>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_SLIDING_MAX)

}  // namespace
}  // namespace sliding_max
