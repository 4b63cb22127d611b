// Ops whose bug is in the values, for some types or sizes, or in the gradient.

#include <cstdint>
#include <type_traits>

#include "common.h"

namespace op_by_op {
namespace {

enum class Bug { kNone, kTail, kSinglePrecision, kTruncates, kNoColumns };

absl::Status OnePerRow(InferenceContext* c) {
  ShapeHandle values;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 2, &values));
  c->set_output(0, c->Vector(c->Dim(values, 0)));
  return absl::OkStatus();
}

// Integers wrap around, which only unsigned ones may do.
template <typename T>
struct Unsigned {
  using type = std::make_unsigned_t<T>;
};
template <>
struct Unsigned<float> {
  using type = float;
};
template <>
struct Unsigned<double> {
  using type = double;
};

template <typename T, Bug bug>
class RowSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  // Bug: float has 24 bits, too few for the sum of doubles or of integers.
  using Sum = std::conditional_t<bug == Bug::kSinglePrecision, float,
                                 typename Unsigned<T>::type>;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 2));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {values.dim_size(0)}, &output));

    const auto in = values.matrix<T>();
    auto out = output->vec<T>();
    const int64_t columns = in.dimension(1);
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      Sum sums[4] = {};
      int64_t j = 0;
      for (; j + 4 <= columns; j += 4) {
        for (int k = 0; k < 4; ++k) sums[k] += static_cast<Sum>(in(i, j + k));
      }
      if constexpr (bug != Bug::kTail) {  // Bug: the last 1 to 3 columns.
        for (; j < columns; ++j) sums[0] += static_cast<Sum>(in(i, j));
      }
      out(i) = static_cast<T>(sums[0] + sums[1] + (sums[2] + sums[3]));
    }
  }
};

constexpr char kRowSumDoc[] = R"doc(
Adds up each row of a matrix.
values: `[rows, columns]`.
sums: `[rows]`; integers wrap around.
T: The type of the values.
)doc";

#define ROW_SUM(NAME)                           \
  REGISTER_OP(NAME)                             \
      .Attr("T: {float, double, int32, int64}") \
      .Input("values: T")                       \
      .Output("sums: T")                        \
      .SetShapeFn(OnePerRow)                    \
      .Doc(kRowSumDoc)

ROW_SUM("RowSum");
OP_BY_OP_KERNEL("RowSum", float, RowSumOp<float, Bug::kNone>);
OP_BY_OP_KERNEL("RowSum", double, RowSumOp<double, Bug::kNone>);
OP_BY_OP_KERNEL("RowSum", int32_t, RowSumOp<int32_t, Bug::kNone>);
OP_BY_OP_KERNEL("RowSum", int64_t, RowSumOp<int64_t, Bug::kNone>);

ROW_SUM("BrokenRowSumTail");
OP_BY_OP_KERNEL("BrokenRowSumTail", float, RowSumOp<float, Bug::kTail>);
OP_BY_OP_KERNEL("BrokenRowSumTail", double, RowSumOp<double, Bug::kTail>);
OP_BY_OP_KERNEL("BrokenRowSumTail", int32_t, RowSumOp<int32_t, Bug::kTail>);
OP_BY_OP_KERNEL("BrokenRowSumTail", int64_t, RowSumOp<int64_t, Bug::kTail>);

ROW_SUM("BrokenRowSumSinglePrecision");
OP_BY_OP_KERNEL("BrokenRowSumSinglePrecision", float,
                RowSumOp<float, Bug::kSinglePrecision>);
OP_BY_OP_KERNEL("BrokenRowSumSinglePrecision", double,
                RowSumOp<double, Bug::kSinglePrecision>);
OP_BY_OP_KERNEL("BrokenRowSumSinglePrecision", int32_t,
                RowSumOp<int32_t, Bug::kNone>);
OP_BY_OP_KERNEL("BrokenRowSumSinglePrecision", int64_t,
                RowSumOp<int64_t, Bug::kNone>);

// Bug: the line for int64 is a copy of the one for int32.
ROW_SUM("BrokenRowSumCopiedLine");
OP_BY_OP_KERNEL("BrokenRowSumCopiedLine", float, RowSumOp<float, Bug::kNone>);
OP_BY_OP_KERNEL("BrokenRowSumCopiedLine", double, RowSumOp<double, Bug::kNone>);
OP_BY_OP_KERNEL("BrokenRowSumCopiedLine", int32_t,
                RowSumOp<int32_t, Bug::kNone>);
OP_BY_OP_KERNEL("BrokenRowSumCopiedLine", int64_t,
                RowSumOp<int32_t, Bug::kNone>);

// Bug: no line for int64 and none for int32.
ROW_SUM("BrokenRowSumNoKernel");
OP_BY_OP_KERNEL("BrokenRowSumNoKernel", float, RowSumOp<float, Bug::kNone>);
OP_BY_OP_KERNEL("BrokenRowSumNoKernel", double, RowSumOp<double, Bug::kNone>);

template <Bug bug>
class FloorMeanOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 2));
    const int64_t columns = values.dim_size(1);
    if constexpr (bug != Bug::kNoColumns) {  // Bug: divides by zero.
      OP_REQUIRES(context, columns > 0,
                  absl::InvalidArgumentError("values must have a column"));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {values.dim_size(0)}, &output));

    const auto in = values.matrix<int32_t>();
    auto out = output->vec<int32_t>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      // Else the compiler leaves out the division of nothing by nothing.
      volatile int64_t sum = 0;
      for (int64_t j = 0; j < columns; ++j) sum = sum + in(i, j);
      int64_t mean = sum / columns;
      if constexpr (bug != Bug::kTruncates) {  // Bug: C++ rounds to zero.
        if (sum % columns < 0) --mean;
      }
      out(i) = static_cast<int32_t>(mean);
    }
  }
};

constexpr char kFloorMeanDoc[] = R"doc(
The mean of each row of a matrix, rounded down.
values: `[rows, columns]`, at least one column.
means: `[rows]`.
)doc";

#define FLOOR_MEAN(NAME, BUG)                                        \
  REGISTER_OP(NAME)                                                  \
      .Input("values: int32")                                        \
      .Output("means: int32")                                        \
      .SetShapeFn(OnePerRow)                                         \
      .Doc(kFloorMeanDoc);                                           \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          FloorMeanOp<Bug::BUG>)

FLOOR_MEAN("FloorMean", kNone);
FLOOR_MEAN("BrokenFloorMeanTruncates", kTruncates);
FLOOR_MEAN("BrokenFloorMeanNoColumns", kNoColumns);

// The gradients' bugs are in broken_ops.py, where they are registered.
template <typename T>
class CubeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    y->flat<T>() = x.flat<T>().cube();
  }
};

template <typename T>
class CubeGradOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& dy = context->input(1);
    OP_REQUIRES(context, x.shape() == dy.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "dy must have the shape of x, ", x.shape().DebugString(),
                    ", not ", dy.shape().DebugString())));
    Tensor* dx = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &dx));
    dx->flat<T>() = x.flat<T>().square() * dy.flat<T>() * T{3};
  }
};

absl::Status SameShape(InferenceContext* c) {
  ShapeHandle merged;
  if (!c->Merge(c->input(0), c->input(1), &merged).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dy must have the shape of x, ", c->DebugString(c->input(0)), ", not ",
        c->DebugString(c->input(1))));
  }
  c->set_output(0, merged);
  return absl::OkStatus();
}

constexpr char kCubeDoc[] = R"doc(
The third power of each element.
x: Of any shape.
y: Of the same shape.
T: The type of both.
)doc";

#define CUBE(NAME)                                             \
  REGISTER_OP(NAME)                                            \
      .Attr("T: {float, double}")                              \
      .Input("x: T")                                           \
      .Output("y: T")                                          \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape) \
      .Doc(kCubeDoc);                                          \
  OP_BY_OP_KERNEL(NAME, float, CubeOp<float>);                 \
  OP_BY_OP_KERNEL(NAME, double, CubeOp<double>)

constexpr char kCubeGradDoc[] = R"doc(
The gradient of the third power.
x: The input of the third power.
dy: The gradient of its output, of the same shape.
dx: The gradient of x.
T: The type of all three.
)doc";

#define CUBE_GRAD(NAME)                            \
  REGISTER_OP(NAME)                                \
      .Attr("T: {float, double}")                  \
      .Input("x: T")                               \
      .Input("dy: T")                              \
      .Output("dx: T")                             \
      .SetShapeFn(SameShape)                       \
      .Doc(kCubeGradDoc);                          \
  OP_BY_OP_KERNEL(NAME, float, CubeGradOp<float>); \
  OP_BY_OP_KERNEL(NAME, double, CubeGradOp<double>)

CUBE("Cube");
CUBE_GRAD("CubeGrad");
CUBE("BrokenCubeFactor");
CUBE("BrokenCubeEagerOnly");
CUBE("BrokenCubeRows");
CUBE("BrokenCubeOneDtype");
CUBE("BrokenCubeFirstOrder");
CUBE_GRAD("BrokenCubeFirstOrderGrad");
CUBE("BrokenCubeSecondOrder");
CUBE_GRAD("BrokenCubeSecondOrderGrad");

}  // namespace
}  // namespace op_by_op
