// MaskedMean: the mean of each row, over the elements that a mask keeps.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace op_by_op {
namespace {

REGISTER_OP("MaskedMean")
    .Attr("T: {float, double}")
    .Input("values: T")
    .Input("mask: bool")
    .Output("means: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle values;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &values));
      TF_RETURN_IF_ERROR(context->Merge(values, context->input(1), &values));
      context->set_output(0, context->Vector(context->Dim(values, 0)));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The mean of each row's elements where `mask` is true, 0 for a row without any.

values: [rows, columns].
mask: [rows, columns].
means: [rows].
)doc");

template <typename T>
class MaskedMeanOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    const tensorflow::TensorShape& shape = input.shape();
    OP_REQUIRES(context,
                shape.dims() == 2 && shape == context->input(1).shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "values and mask must be matrices of one shape, got ",
                    shape.DebugString(), " and ",
                    context->input(1).shape().DebugString())));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(
        context, context->allocate_output(
                     0, tensorflow::TensorShape({shape.dim_size(0)}), &output));

    const auto values = input.matrix<T>();
    const auto mask = context->input(1).matrix<bool>();
    auto means = output->vec<T>();
    for (int64_t row = 0; row < values.dimension(0); ++row) {
      T sum = 0;
      int64_t count = 0;
      for (int64_t column = 0; column < values.dimension(1); ++column) {
        if (!mask(row, column)) continue;
        sum += values(row, column);
        ++count;
      }
      means(row) = count == 0 ? T{0} : sum / static_cast<T>(count);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("MaskedMean")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        MaskedMeanOp<float>);
REGISTER_KERNEL_BUILDER(Name("MaskedMean")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        MaskedMeanOp<double>);

}  // namespace
}  // namespace op_by_op
