// The solution of the exercise: a signal's even part, in one line of Eigen.

#define EIGEN_USE_THREADS

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

REGISTER_OP("EvenPart")
    .Input("signal: float")
    .Output("even: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      return tensorflow::shape_inference::UnchangedShapeWithRank(context, 1);
    });

// The mean of a signal and of the signal turned around.
class EvenPartOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("signal must be a vector, got shape ",
                                 signal.shape().DebugString())));
    // [even] An element depends on two of the signal.
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, signal.shape(), &output));
    const auto x = signal.vec<float>();
    const Eigen::array<bool, 1> turned = {true};
    output->vec<float>().device(context->eigen_cpu_device()) =
        (x + x.reverse(turned)) * 0.5f;
  }
};

REGISTER_KERNEL_BUILDER(Name("EvenPart").Device(tensorflow::DEVICE_CPU),
                        EvenPartOp);

}  // namespace
}  // namespace op_by_op
