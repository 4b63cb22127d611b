// PickNumbers reads wherever an index leads: a kernel that kills Python.

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

REGISTER_OP("PickNumbers")
    .Input("x: float")
    .Input("indices: int32")
    .Output("y: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(1));
      return absl::OkStatus();
    });

// [kernel] Indices are not bounds-checked.
class PickNumbersOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& indices = context->input(1);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, indices.shape(), &y));
    const float* from = x.flat<float>().data();
    const int32_t* index = indices.flat<int32_t>().data();
    float* to = y->flat<float>().data();
    for (int64_t i = 0; i < indices.NumElements(); ++i) to[i] = from[index[i]];
  }
};

REGISTER_KERNEL_BUILDER(Name("PickNumbers").Device(tensorflow::DEVICE_CPU),
                        PickNumbersOp);

}  // namespace
}  // namespace op_by_op
