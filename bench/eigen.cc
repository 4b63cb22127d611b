// Standardize without Eigen: three loops over each row, on one thread.

#include <cmath>
#include <cstdint>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;

REGISTER_OP(OP_NAME)
    .Input("x: float")
    .Output("z: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class LoopsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    const int64_t rows = input.dim_size(0), columns = input.dim_size(1);
    const float* x = input.flat<float>().data();
    float* z = output->flat<float>().data();
    for (int64_t r = 0; r < rows; ++r, x += columns, z += columns) {
      float sum = 0, squares = 0;
      for (int64_t c = 0; c < columns; ++c) sum += x[c];
      for (int64_t c = 0; c < columns; ++c) {
        z[c] = x[c] - sum / columns;
        squares += z[c] * z[c];
      }
      const float scale = 1 / std::sqrt(squares / columns + 1e-6f);
      for (int64_t c = 0; c < columns; ++c) z[c] *= scale;
    }
  }
};

REGISTER_KERNEL_BUILDER(Name(OP_NAME).Device(tensorflow::DEVICE_CPU), LoopsOp);

}  // namespace
}  // namespace op_by_op
