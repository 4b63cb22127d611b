// CheckedPickNumbers: PickNumbers, with a check of every index.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/bounds_check.h"
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

REGISTER_OP("CheckedPickNumbers")
    .Input("x: float")
    .Input("indices: int32")
    .Output("y: float")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->input(1));
      return absl::OkStatus();
    });

class CheckedPickNumbersOp : public OpKernel {
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
    // [check] Reads each index once: what is checked is what is used.
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int32_t at = tensorflow::internal::SubtleMustCopy(index[i]);
      OP_REQUIRES(context, tensorflow::FastBoundsCheck(at, x.NumElements()),
                  absl::InvalidArgumentError(absl::StrCat(
                      "indices must be at least 0 and less than ",
                      x.NumElements(), ", but index ", i, " is ", at)));
      to[i] = from[at];
    }
  }
};

REGISTER_KERNEL_BUILDER(
    Name("CheckedPickNumbers").Device(tensorflow::DEVICE_CPU),
    CheckedPickNumbersOp);

}  // namespace
}  // namespace op_by_op
