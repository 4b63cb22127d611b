// Interleave and Deinterleave: the rows of several tensors in turn, and back.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/overflow.h"

namespace op_by_op {
namespace {

using ::tensorflow::shape_inference::DimensionHandle;
using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

// [interface] A list of inputs: they tell N.
REGISTER_OP("Interleave")
    .Attr("N: int >= 2")
    .Attr("T: {realnumbertype, complex64, complex128, bool, string}")
    .Input("inputs: N * T")
    .Output("interleaved: T")
    // [shape] N times as many rows as each input.
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle shape = context->input(0);
      for (int n = 1; n < context->num_inputs(); ++n) {
        TF_RETURN_IF_ERROR(context->Merge(shape, context->input(n), &shape));
      }
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(shape, 1, &shape));
      if (!context->RankKnown(shape)) {
        return tensorflow::shape_inference::UnknownShape(context);
      }
      DimensionHandle rows;
      TF_RETURN_IF_ERROR(context->Multiply(context->Dim(shape, 0),
                                           context->num_inputs(), &rows));
      TF_RETURN_IF_ERROR(context->ReplaceDim(shape, 0, rows, &shape));
      context->set_output(0, shape);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Takes the first row of each tensor, then the second row of each, and so on.

inputs: Tensors of one shape, of rank 1 or more. A row is all that has the same
  index in the first dimension.
interleaved: A tensor with N times as many rows.
)doc");

// [inverse] A list of outputs: nothing tells num but the caller.
REGISTER_OP("Deinterleave")
    .Attr("num: int >= 2")
    .Attr("T: {realnumbertype, complex64, complex128, bool, string}")
    .Input("interleaved: T")
    .Output("outputs: num * T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle shape = context->input(0);
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(shape, 1, &shape));
      if (!context->RankKnown(shape)) {
        return tensorflow::shape_inference::UnknownShape(context);
      }
      DimensionHandle rows;
      TF_RETURN_IF_ERROR(context->Divide(context->Dim(shape, 0),
                                         context->num_outputs(),
                                         /*evenly_divisible=*/true, &rows));
      TF_RETURN_IF_ERROR(context->ReplaceDim(shape, 0, rows, &shape));
      for (int n = 0; n < context->num_outputs(); ++n) {
        context->set_output(n, shape);
      }
      return absl::OkStatus();
    })
    .Doc(R"doc(
Deals the rows of a tensor out to num tensors in turn.

interleaved: A tensor of rank 1 or more, whose number of rows num divides.
outputs: num tensors with as many rows each.
)doc");

// [kernel] input_list finds the tensors of a list by its name.
template <typename T>
class InterleaveOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::OpInputList inputs;
    OP_REQUIRES_OK(context, context->input_list("inputs", &inputs));
    tensorflow::TensorShape shape = inputs[0].shape();
    OP_REQUIRES(context, shape.dims() >= 1,
                absl::InvalidArgumentError(
                    "inputs are scalars, expected rank 1 or more"));
    for (int n = 1; n < inputs.size(); ++n) {
      OP_REQUIRES(
          context, inputs[n].shape() == shape,
          absl::InvalidArgumentError(absl::StrCat(
              "inputs[", n, "] has shape ", inputs[n].shape().DebugString(),
              ", expected ", shape.DebugString(), " as inputs[0]")));
    }
    const int64_t rows = shape.dim_size(0);
    const int64_t all_rows =
        tensorflow::MultiplyWithoutOverflow(rows, inputs.size());
    OP_REQUIRES(context, all_rows >= 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "inputs have ", rows, " rows each, which is too many for ",
                    inputs.size(), " inputs: an output has less than 2^63")));
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(0, all_rows));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;

    const int64_t size = inputs[0].NumElements() / rows;
    std::vector<const T*> in;
    for (const tensorflow::Tensor& input : inputs) {
      in.push_back(input.flat<T>().data());
    }
    T* out = output->flat<T>().data();
    for (int64_t row = 0; row < rows; ++row) {
      for (const T* from : in) {
        out = std::copy_n(from + row * size, size, out);
      }
    }
  }
};

// [inverse_kernel] output_list gives the outputs of a list memory, one by one.
template <typename T>
class DeinterleaveOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::OpOutputList outputs;
    OP_REQUIRES_OK(context, context->output_list("outputs", &outputs));
    tensorflow::TensorShape shape = input.shape();
    OP_REQUIRES(context,
                shape.dims() >= 1 && shape.dim_size(0) % outputs.size() == 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "interleaved has shape ", shape.DebugString(),
                    ", expected a number of rows that num = ", outputs.size(),
                    " divides")));
    const int64_t rows = shape.dim_size(0) / outputs.size();
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(0, rows));
    const int64_t size = rows == 0 ? 0 : shape.num_elements() / rows;
    const T* in = input.flat<T>().data();
    for (int n = 0; n < outputs.size(); ++n) {
      tensorflow::Tensor* output = nullptr;
      OP_REQUIRES_OK(context, outputs.allocate(n, shape, &output));
      T* out = output->flat<T>().data();
      for (int64_t row = 0; row < rows; ++row) {
        out = std::copy_n(in + (row * outputs.size() + n) * size, size, out);
      }
    }
  }
};

#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("Interleave")                  \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          InterleaveOp<T>);                   \
  REGISTER_KERNEL_BUILDER(Name("Deinterleave")                \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          DeinterleaveOp<T>);
TF_CALL_POD_STRING_TYPES(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
