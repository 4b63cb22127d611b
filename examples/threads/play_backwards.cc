// PlayBackwards: an op whose threads are Eigen's affair.

#define EIGEN_USE_THREADS

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

REGISTER_OP("PlayBackwards")
    .Attr("T: {float, double}")
    .Attr("gain: float = 1.0")
    .Input("signal: T")
    .Output("backwards: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      return tensorflow::shape_inference::UnchangedShapeWithRank(context, 1);
    })
    .Doc(R"doc(
Turns a signal around in time, and multiplies it by a factor.

signal: `[length]`.
backwards: `[length]`.
gain: The factor.
)doc");

// The loop, its threads and their blocks are Eigen's.
template <typename T>
class PlayBackwardsOp : public OpKernel {
 public:
  explicit PlayBackwardsOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("gain", &gain_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("signal must be a vector, got shape ",
                                 signal.shape().DebugString())));
    // [device] No loop, no threads, no blocks: Eigen has them.
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, signal.shape(), &output));
    const Eigen::array<bool, 1> turned = {true};
    output->vec<T>().device(context->eigen_cpu_device()) =
        (signal.vec<T>() * static_cast<T>(gain_)).reverse(turned);
  }

 private:
  float gain_;
};

// One line for each type.
#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("PlayBackwards")               \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          PlayBackwardsOp<T>)
OP_BY_OP_REGISTER(float);
OP_BY_OP_REGISTER(double);
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
