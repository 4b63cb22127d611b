// Standardize: each row of a matrix, with mean 0 and variance 1.

#define EIGEN_USE_THREADS

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::Tensor;

// Context: an InferenceContext or an OpKernelConstruction.
template <typename Context>
absl::Status GetEpsilon(Context* context, float* epsilon) {
  TF_RETURN_IF_ERROR(context->GetAttr("epsilon", epsilon));
  if (std::isfinite(*epsilon) && *epsilon >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("epsilon must be finite and at least 0, got ", *epsilon));
}

// A matrix, and a small number that keeps the root above 0.
REGISTER_OP("Standardize")
    .Attr("T: {float, double}")
    .Attr("epsilon: float = 1e-6")
    .Input("x: T")
    .Output("z: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      float epsilon;
      TF_RETURN_IF_ERROR(GetEpsilon(context, &epsilon));
      return tensorflow::shape_inference::UnchangedShapeWithRank(context, 2);
    })
    .Doc(R"doc(
Shifts and scales each row, so that its mean is 0 and its variance 1.

x: `[rows, columns]`.
z: `[rows, columns]`: (x - mean) / sqrt(variance + epsilon).
epsilon: What is added to the variance: finite and not negative.
)doc");

// Two reductions, each followed by what is repeated along the row.
template <typename T>
class StandardizeOp : public tensorflow::OpKernel {
 public:
  explicit StandardizeOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, GetEpsilon(context, &epsilon_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(
        context, input.dims() == 2,
        absl::InvalidArgumentError(absl::StrCat(
            "x must be a matrix, got shape ", input.shape().DebugString())));
    // [memory] The output, and a number for each row, used twice.
    Tensor *output = nullptr, scratch;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    OP_REQUIRES_OK(context,
                   context->allocate_temp(input.dtype(), {input.dim_size(0), 1},
                                          &scratch));
    // [compute] A reduction, and what is repeated along the row.
    const auto x = input.matrix<T>();
    auto z = output->matrix<T>();
    auto of_row = scratch.matrix<T>();  // means, later factors
    const T columns = x.dimension(1);
    const Eigen::IndexList<Eigen::type2index<1>> along_row;
    const Eigen::array<Eigen::Index, 2> column = {x.dimension(0), 1};
    const Eigen::array<Eigen::Index, 2> repeat = {1, x.dimension(1)};
    const auto& device = context->eigen_cpu_device();

    of_row.device(device) =
        (x.template cast<double>().sum(along_row) / double(columns))
            .template cast<T>()
            .reshape(column);
    z.device(device) = x - of_row.broadcast(repeat);
    of_row.device(device) = (z.square().sum(along_row) / columns + T(epsilon_))
                                .rsqrt()
                                .reshape(column);
    z.device(device) = z * of_row.broadcast(repeat);
  }

 private:
  float epsilon_;
};

// One line for each type.
REGISTER_KERNEL_BUILDER(Name("Standardize")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        StandardizeOp<float>);
REGISTER_KERNEL_BUILDER(Name("Standardize")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        StandardizeOp<double>);

}  // namespace
}  // namespace op_by_op
