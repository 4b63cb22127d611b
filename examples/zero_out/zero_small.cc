// ZeroSmall: set the elements below a threshold to zero.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

// [interface] Two inputs of one fixed type, the second one a scalar.
REGISTER_OP("ZeroSmall")
    .Input("x: float")
    .Input("threshold: float")
    .Output("zeroed: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle scalar;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 0, &scalar));
      context->set_output(0, context->input(0));
      return absl::OkStatus();
    });

// [kernel] No template, since the type is fixed.
class ZeroSmallOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& x = context->input(0);
    const tensorflow::Tensor& threshold = context->input(1);
    OP_REQUIRES(context, threshold.dims() == 0,
                absl::InvalidArgumentError(
                    absl::StrCat("threshold must be a scalar, but has shape ",
                                 threshold.shape().DebugString())));
    const float least = threshold.scalar<float>()();

    tensorflow::Tensor* zeroed = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &zeroed));
    const tsl::port::ScopedDontFlushDenormal keep;  // subnormals are not 0
    const auto in = x.flat<float>();
    auto out = zeroed->flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = std::abs(in(i)) < least ? 0.0f : in(i);
    }
  }
};

// [register] No TypeConstraint either.
REGISTER_KERNEL_BUILDER(Name("ZeroSmall").Device(tensorflow::DEVICE_CPU),
                        ZeroSmallOp);

}  // namespace
}  // namespace op_by_op
