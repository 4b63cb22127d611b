// Frexp under six other names, for the chapter's other gradients.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

class FrexpCopyOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* mantissa = nullptr;
    Tensor* exponent = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &mantissa));
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, values.shape(), &exponent));
    for (int64_t i = 0; i < values.NumElements(); ++i) {
      mantissa->flat<float>()(i) =
          std::frexp(values.flat<float>()(i), &exponent->flat<int32_t>()(i));
    }
  }
};

#define REGISTER_COPY(name)                                          \
  REGISTER_OP(name)                                                  \
      .Input("values: float")                                        \
      .Output("mantissa: float")                                     \
      .Output("exponent: int32")                                     \
      .SetShapeFn([](InferenceContext* context) {                    \
        context->set_output(0, context->input(0));                   \
        context->set_output(1, context->input(0));                   \
        return absl::OkStatus();                                     \
      });                                                            \
  REGISTER_KERNEL_BUILDER(Name(name).Device(tensorflow::DEVICE_CPU), \
                          FrexpCopyOp)

REGISTER_COPY("FrexpWithoutGradient");
REGISTER_COPY("FrexpWithOneArgument");
REGISTER_COPY("FrexpWithTwoGradients");
REGISTER_COPY("FrexpIsConstant");
REGISTER_COPY("FrexpWithNumpy");
REGISTER_COPY("FrexpWithReport");

}  // namespace
}  // namespace op_by_op
