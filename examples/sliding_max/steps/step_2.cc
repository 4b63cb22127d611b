// SlidingMax, step 2: the window is an attr.

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace sliding_max {
namespace {

REGISTER_OP("SlidingMax2")
    .Attr("window: int >= 1")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::UnknownShape);

class SlidingMaxOp : public tensorflow::OpKernel {
 public:
  explicit SlidingMaxOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("window", &window_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    const int64_t n = input.dim_size(0);
    const int64_t windows = n - window_ + 1;
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {windows}, &output));

    const auto x = input.vec<float>();
    auto y = output->vec<float>();
    for (int64_t i = 0; i < windows; ++i) {
      float best = x(i);
      for (int64_t j = i + 1; j < i + window_; ++j) best = std::max(best, x(j));
      y(i) = best;
    }
  }

 private:
  int64_t window_;
};

REGISTER_KERNEL_BUILDER(Name("SlidingMax2").Device(tensorflow::DEVICE_CPU),
                        SlidingMaxOp);

}  // namespace
}  // namespace sliding_max
