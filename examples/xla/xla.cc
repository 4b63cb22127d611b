// ExponentialAverage: the moving average of each row, newer values weighing
// more. Nothing in this file is about XLA.

#include "xla.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The average runs along the last axis, and begins with 0.
REGISTER_OP("ExponentialAverage")
    .Attr("decay: float = 0.9")
    .Attr("T: {float, double}")
    .Input("signal: T")
    .Output("average: T")
    .SetShapeFn([](InferenceContext* context) {
      float decay;
      TF_RETURN_IF_ERROR(context->GetAttr("decay", &decay));
      TF_RETURN_IF_ERROR(CheckDecay(decay));
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(
          context->WithRankAtLeast(context->input(0), 1, &shape));
      context->set_output(0, shape);
      return absl::OkStatus();
    });

// On one thread, row by row.
template <typename T>
class ExponentialAverageOp : public tensorflow::OpKernel {
 public:
  explicit ExponentialAverageOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("decay", &decay_));
    OP_REQUIRES_OK(context, CheckDecay(decay_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() >= 1,
                absl::InvalidArgumentError(
                    "signal must have at least one dimension, got a scalar"));
    Tensor* average = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, signal.shape(), &average));
    const int64_t length = signal.dim_size(signal.dims() - 1);
    const int64_t rows = length == 0 ? 0 : signal.NumElements() / length;
    ExponentialAverage<T>(signal.flat<T>().data(), average->flat<T>().data(),
                          rows, length, decay_);
  }

 private:
  float decay_;
};

// One line per type.
REGISTER_KERNEL_BUILDER(Name("ExponentialAverage")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        ExponentialAverageOp<float>);
REGISTER_KERNEL_BUILDER(Name("ExponentialAverage")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        ExponentialAverageOp<double>);

}  // namespace
}  // namespace op_by_op
