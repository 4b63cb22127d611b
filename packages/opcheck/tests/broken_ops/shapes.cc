// Ops whose bug is in a shape: the one inferred, or one that the kernel cannot
// take.

#include <algorithm>
#include <cstdint>

#include "common.h"

namespace op_by_op {
namespace {

enum class Bug { kNone, kRounding, kUnknownDim, kScalar, kRankFive };

template <Bug bug>
absl::Status EverySecondRowShape(InferenceContext* c) {
  ShapeHandle rows = c->input(0), kept;
  if (!c->WithRankAtLeast(rows, 1, &rows).ok()) {
    return absl::InvalidArgumentError("values must not be a scalar");
  }
  DimensionHandle count = c->Dim(rows, 0);
  if constexpr (bug == Bug::kUnknownDim) {
    // Bug: the value of an unknown dimension is -1.
    count = c->MakeDim((c->Value(count) + 1) / 2);
  } else {
    if constexpr (bug != Bug::kRounding) {  // Bug: 5 rows give 2, not 3.
      TF_RETURN_IF_ERROR(c->Add(count, 1, &count));
    }
    TF_RETURN_IF_ERROR(c->Divide(count, 2, /*evenly_divisible=*/false, &count));
  }
  TF_RETURN_IF_ERROR(c->ReplaceDim(rows, 0, count, &kept));
  c->set_output(0, kept);
  return absl::OkStatus();
}

class EverySecondRowOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES(context, values.dims() >= 1,
                absl::InvalidArgumentError("values must not be a scalar"));
    const int64_t kept = (values.dim_size(0) + 1) / 2;
    tensorflow::TensorShape shape = values.shape();
    shape.set_dim(0, kept);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));

    if (output->NumElements() == 0) return;
    const int64_t row = output->NumElements() / kept;
    const float* in = values.flat<float>().data();
    float* out = output->flat<float>().data();
    for (int64_t i = 0; i < kept; ++i) {
      std::copy_n(in + 2 * i * row, row, out + i * row);
    }
  }
};

constexpr char kEverySecondRowDoc[] = R"doc(
Keeps the rows 0, 2, 4, and so on.
values: Of any shape but that of a scalar.
kept: Of the shape of values, but for half as many rows, rounded up.
)doc";

#define EVERY_OTHER_ROW(NAME, SHAPE)                                 \
  REGISTER_OP(NAME)                                                  \
      .Input("values: float")                                        \
      .Output("kept: float")                                         \
      .SetShapeFn(SHAPE)                                             \
      .Doc(kEverySecondRowDoc);                                      \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          EverySecondRowOp)

EVERY_OTHER_ROW("EverySecondRow", EverySecondRowShape<Bug::kNone>);
EVERY_OTHER_ROW("BrokenEverySecondRowRounding",
                EverySecondRowShape<Bug::kRounding>);
EVERY_OTHER_ROW("BrokenEverySecondRowUnknownDim",
                EverySecondRowShape<Bug::kUnknownDim>);
// Not wrong, but whoever reads the shape learns nothing.
EVERY_OTHER_ROW("BrokenEverySecondRowNoShape",
                tensorflow::shape_inference::UnknownShape);

template <Bug bug>
class ReverseLastOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));

    if constexpr (bug == Bug::kRankFive) {
      // Bug: ends the process for a mere input.
      if (values.dims() > 4) LOG(FATAL) << "Unhandled rank " << values.dims();
    }
    if constexpr (bug == Bug::kScalar) {
      // Bug: a scalar has no last dimension.
      if (values.dim_size(values.dims() - 1) == 1) {
        output->flat<float>() = values.flat<float>();
        return;
      }
    }
    const auto in = values.flat_inner_dims<float>();
    auto out = output->flat_inner_dims<float>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      std::reverse_copy(&in(i, 0), &in(i, 0) + in.dimension(1), &out(i, 0));
    }
  }
};

constexpr char kReverseLastDoc[] = R"doc(
Reverses the order of the elements along the last dimension.
values: Of any shape.
reversed: Of the same shape.
)doc";

#define REVERSE_LAST(NAME, BUG)                                      \
  REGISTER_OP(NAME)                                                  \
      .Input("values: float")                                        \
      .Output("reversed: float")                                     \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape)       \
      .Doc(kReverseLastDoc);                                         \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          ReverseLastOp<Bug::BUG>)

REVERSE_LAST("ReverseLast", kNone);
REVERSE_LAST("BrokenReverseLastScalar", kScalar);
REVERSE_LAST("BrokenReverseLastRankFive", kRankFive);

}  // namespace
}  // namespace op_by_op
