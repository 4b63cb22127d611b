// SlidingMax, step 3: any type of real numbers.

#include <algorithm>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"

namespace sliding_max {
namespace {

REGISTER_OP("SlidingMax3")
    .Attr("T: realnumbertype")
    .Attr("window: int >= 1")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnknownShape);

template <typename T>
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

    const auto x = input.vec<T>();
    auto y = output->vec<T>();
    for (int64_t i = 0; i < windows; ++i) {
      T best = x(i);
      for (int64_t j = i + 1; j < i + window_; ++j) best = std::max(best, x(j));
      y(i) = best;
    }
  }

 private:
  int64_t window_;
};

#define REGISTER_SLIDING_MAX(T)                               \
  REGISTER_KERNEL_BUILDER(Name("SlidingMax3")                 \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          SlidingMaxOp<T>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_SLIDING_MAX)

}  // namespace
}  // namespace sliding_max
