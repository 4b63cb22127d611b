// Extremes: the smallest and the largest element of every row and where they
// are; and ExtremesGrad, which its gradient calls.

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] Four outputs: two that can be differentiated, two that cannot.
REGISTER_OP("Extremes")
    .Attr("T: {float, double, int32}")
    .Input("values: T")
    .Output("minimum: T")
    .Output("maximum: T")
    .Output("argmin: int64")
    .Output("argmax: int64")
    // Every output lacks the last dimension, which must not be empty.
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle values, rows;
      TF_RETURN_IF_ERROR(
          context->WithRankAtLeast(context->input(0), 1, &values));
      const DimensionHandle columns = context->Dim(values, -1);
      if (context->ValueKnown(columns) && context->Value(columns) == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("the last dimension of values must not be empty, got ",
                         context->DebugString(values)));
      }
      TF_RETURN_IF_ERROR(context->Subshape(values, 0, -1, &rows));
      for (int i = 0; i < context->num_outputs(); ++i) {
        context->set_output(i, rows);
      }
      return absl::OkStatus();
    })
    .Doc(R"doc(
The smallest and the largest element along the last axis, and where they are.

values: A tensor of one dimension or more, the last of which is not empty.
minimum: The smallest elements, of the shape of values without its last axis.
maximum: The largest elements.
argmin: The index of minimum in the last axis, the first one if there are more.
argmax: The index of maximum in the last axis, the first one if there are more.
)doc");

// A block without a new extreme is skipped. AllBetween compares all
// of a block, without a branch that would keep the compiler from comparing many
// numbers at once. For a NaN both comparisons are false.
constexpr int64_t kBlock = 32;

template <typename T>
bool AllBetween(const T* block, T low, T high) {
  int outside = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    outside |= !((low <= block[i]) & (block[i] <= high));
  }
  return outside == 0;
}

template <typename T>
std::tuple<T, T, int64_t, int64_t> FindExtremes(const T* row, int64_t columns) {
  T low = row[0], high = row[0];
  int64_t argmin = 0, argmax = 0;
  for (int64_t c = 0; c < columns;) {
    const int64_t end = std::min(c + kBlock, columns);
    if (end - c == kBlock && AllBetween(row + c, low, high)) {
      c = end;
      continue;
    }
    for (; c < end; ++c) {
      // A NaN is both extremes, as in NumPy.
      if (row[c] != row[c]) return {row[c], row[c], c, c};
      if (row[c] < low) low = row[argmin = c];
      if (high < row[c]) high = row[argmax = c];
    }
  }
  return {low, high, argmin, argmax};
}

// [kernel] Check again, since an eager call runs no shape function; then fill
// all outputs row by row.
template <typename T>
class ExtremesOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES(context, values.dims() >= 1,
                absl::InvalidArgumentError(absl::StrCat(
                    "values must have at least one dimension, got shape ",
                    values.shape().DebugString())));
    const int64_t columns = values.dim_size(values.dims() - 1);
    OP_REQUIRES(context, columns > 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "the last dimension of values must not be empty, got "
                    "shape ",
                    values.shape().DebugString())));

    tensorflow::TensorShape rows = values.shape();
    rows.RemoveLastDims(1);
    std::array<Tensor*, 4> outputs;
    for (int i = 0; i < 4; ++i) {
      OP_REQUIRES_OK(context, context->allocate_output(i, rows, &outputs[i]));
    }
    auto minimum = outputs[0]->flat<T>();
    auto maximum = outputs[1]->flat<T>();
    auto argmin = outputs[2]->flat<int64_t>();
    auto argmax = outputs[3]->flat<int64_t>();

    const tsl::port::ScopedDontFlushDenormal keep;  // subnormals are not 0
    const T* row = values.flat<T>().data();
    for (int64_t r = 0; r < minimum.size(); ++r, row += columns) {
      std::tie(minimum(r), maximum(r), argmin(r), argmax(r)) =
          FindExtremes(row, columns);
    }
  }
};

// [gradient] An op like any other, made for the gradient function.
REGISTER_OP("ExtremesGrad")
    .Attr("T: {float, double}")
    .Input("minimum_grad: T")
    .Input("maximum_grad: T")
    .Input("argmin: int64")
    .Input("argmax: int64")
    .Input("columns: int64")
    .Output("values_grad: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle rows = context->input(0);
      for (int i = 1; i < 4; ++i) {
        TF_RETURN_IF_ERROR(context->Merge(rows, context->input(i), &rows));
      }
      DimensionHandle columns;
      TF_RETURN_IF_ERROR(context->MakeDimForScalarInput(4, &columns));
      ShapeHandle values;
      TF_RETURN_IF_ERROR(
          context->Concatenate(rows, context->Vector(columns), &values));
      context->set_output(0, values);
      return absl::OkStatus();
    });

template <typename T>
class ExtremesGradOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& minimum_grad = context->input(0);
    tensorflow::TensorShape shape = minimum_grad.shape();
    const char* const names[] = {"minimum_grad", "maximum_grad", "argmin",
                                 "argmax"};
    for (int i = 1; i < 4; ++i) {
      OP_REQUIRES(context, context->input(i).shape() == shape,
                  absl::InvalidArgumentError(absl::StrCat(
                      names[i], " must have the shape of minimum_grad, ",
                      shape.DebugString(), ", got ",
                      context->input(i).shape().DebugString())));
    }
    const Tensor& columns_tensor = context->input(4);
    OP_REQUIRES(context, columns_tensor.dims() == 0,
                absl::InvalidArgumentError(
                    absl::StrCat("columns must be a scalar, got shape ",
                                 columns_tensor.shape().DebugString())));
    const int64_t columns = columns_tensor.scalar<int64_t>()();
    OP_REQUIRES(context, shape.AddDimWithStatus(columns).ok(),
                absl::InvalidArgumentError(absl::StrCat(
                    "columns is negative or too large: ", columns)));
    Tensor* values_grad = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &values_grad));

    // [scatter] The gradient of an extreme goes where the extreme came from.
    auto out = values_grad->flat<T>();
    std::fill_n(out.data(), out.size(), T{0});
    for (int i = 0; i < 2; ++i) {
      const auto grad = context->input(i).flat<T>();
      const auto index = context->input(2 + i).flat<int64_t>();
      for (int64_t r = 0; r < grad.size(); ++r) {
        const int64_t column = index(r);
        OP_REQUIRES(context, column >= 0 && column < columns,
                    absl::InvalidArgumentError(
                        absl::StrCat("argmin and argmax must be in [0, ",
                                     columns, "), got ", column)));
        out(r * columns + column) += grad(r);
      }
    }
  }
};

// [register] No ExtremesGrad for int32: integers have no gradient.
#define OP_BY_OP_REGISTER(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("Extremes").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      ExtremesOp<T>);
TF_CALL_float(OP_BY_OP_REGISTER) TF_CALL_double(OP_BY_OP_REGISTER)
    TF_CALL_int32(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("ExtremesGrad")                \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          ExtremesGradOp<T>);
        TF_CALL_float(OP_BY_OP_REGISTER) TF_CALL_double(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
