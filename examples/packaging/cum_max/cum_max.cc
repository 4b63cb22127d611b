// CumMax: the greatest element so far, along the last axis.

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

// __init__.py reads this before it loads the library.
extern "C" __attribute__((used)) const char kBuiltFor[] =
    "built for TensorFlow " BUILT_FOR;

namespace cum_max {
namespace {

REGISTER_OP("CumMax")
    .Attr("T: {float, double, int32, int64}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      auto shape = context->input(0);
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(shape, 1, &shape));
      context->set_output(0, shape);
      return absl::OkStatus();
    });

// One pass over each row; NaN stays NaN.
template <typename T>
class CumMaxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    OP_REQUIRES(context, input.dims() >= 1,
                absl::InvalidArgumentError(
                    "CumMax: x must have at least one dimension, is a scalar"));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto x = input.flat_inner_dims<T>();
    auto y = output->flat_inner_dims<T>();
    const tsl::port::ScopedDontFlushDenormal subnormals_are_not_zero;
    for (int64_t row = 0; row < x.dimension(0); ++row) {
      for (int64_t i = 0; i < x.dimension(1); ++i) {
        const T value = x(row, i);
        const bool greater = i == 0 || value > y(row, i - 1) || value != value;
        y(row, i) = greater ? value : y(row, i - 1);
      }
    }
  }
};

#define REGISTER_CUM_MAX(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name("CumMax").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      CumMaxOp<T>)
REGISTER_CUM_MAX(float);
REGISTER_CUM_MAX(double);
REGISTER_CUM_MAX(int32_t);
REGISTER_CUM_MAX(int64_t);

}  // namespace
}  // namespace cum_max
