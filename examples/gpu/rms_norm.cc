// RmsNorm and its gradient: interfaces, and kernels for the CPU.

#include "rms_norm.h"

#include <cstdint>

#include "absl/status/status.h"
#include "rms_norm_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

REGISTER_OP("RmsNorm")
    .Attr("epsilon: float = 1e-6")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn([](InferenceContext* context) {
      float epsilon;
      TF_RETURN_IF_ERROR(GetEpsilon(context, &epsilon));
      return tensorflow::shape_inference::UnchangedShapeWithRankAtLeast(context,
                                                                        1);
    })
    .Doc(R"doc(
Divides each row by its root mean square: x / sqrt(mean(x * x) + epsilon).

x: `[..., columns]`.
y: Like x.
)doc");

REGISTER_OP("RmsNormGrad")
    .Attr("epsilon: float = 1e-6")
    .Input("x: float")
    .Input("grad: float")
    .Output("result: float")
    .SetShapeFn([](InferenceContext* context) {
      float epsilon;
      TF_RETURN_IF_ERROR(GetEpsilon(context, &epsilon));
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(
          context->WithRankAtLeast(context->input(0), 1, &shape));
      TF_RETURN_IF_ERROR(context->Merge(shape, context->input(1), &shape));
      context->set_output(0, shape);
      return absl::OkStatus();
    })
    .Doc(R"doc(
The gradient of RmsNorm.

x: What RmsNorm got.
grad: Of what RmsNorm returned.
result: Of x.
)doc");

// Row after row.
struct Cpu {
  static absl::Status Norm(OpKernelContext*, const float* x, int64_t rows,
                           int64_t columns, float epsilon, float* y) {
    for (int64_t first = 0; first < rows * columns; first += columns) {
      NormRow(x + first, columns, epsilon, y + first);
    }
    return absl::OkStatus();
  }

  static absl::Status Grad(OpKernelContext*, const float* x, const float* grad,
                           int64_t rows, int64_t columns, float epsilon,
                           float* result) {
    for (int64_t first = 0; first < rows * columns; first += columns) {
      NormRowGrad(x + first, grad + first, columns, epsilon, result + first);
    }
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("RmsNorm").Device(tensorflow::DEVICE_CPU),
                        RmsNormOp<Cpu>);
REGISTER_KERNEL_BUILDER(Name("RmsNormGrad").Device(tensorflow::DEVICE_CPU),
                        RmsNormGradOp<Cpu>);

}  // namespace
}  // namespace op_by_op
