// Ops whose bug is in what they take from their caller: values, sizes and
// attrs that they should refuse, or refuse badly.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "common.h"
#include "tensorflow/core/framework/variant.h"

namespace op_by_op {
namespace {

enum class Bug {
  kNone,
  kUnchecked,
  kUnnamed,
  kAnyRank,
  kOverflow,
  kNan,
  kFixedBuffer,
  kOutOfRange
};

template <Bug bug>
class TakeRowsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& rows = context->input(0);
    const Tensor& indices = context->input(1);
    if constexpr (bug != Bug::kAnyRank) {  // Bug: matrix() ends the process.
      OP_REQUIRES_OK(context, HasRank(rows, "rows", 2));
    }
    OP_REQUIRES_OK(context, HasRank(indices, "indices", 1));
    const auto in = rows.matrix<double>();
    const auto index = indices.vec<int32_t>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, {index.size(), in.dimension(1)}, &output));

    auto out = output->matrix<double>();
    for (int64_t i = 0; i < index.size(); ++i) {
      const int64_t row = index(i);
      const bool inside = row >= 0 && row < in.dimension(0);
      if constexpr (bug == Bug::kUnnamed) {
        // Bug: of what, and which?
        OP_REQUIRES(context, inside,
                    absl::InvalidArgumentError("value out of range"));
      } else if constexpr (bug == Bug::kOutOfRange) {
        // Bug: tf.data takes it for the end.
        OP_REQUIRES(
            context, inside,
            absl::OutOfRangeError(absl::StrCat("indices[", i, "] is ", row)));
      } else if constexpr (bug != Bug::kUnchecked) {  // Bug: reads anything.
        OP_REQUIRES(context, inside,
                    absl::InvalidArgumentError(
                        absl::StrCat("indices must be in [0, ", in.dimension(0),
                                     "), but indices[", i, "] is ", row)));
      }
      std::copy_n(&in(row, 0), in.dimension(1), &out(i, 0));
    }
  }
};

absl::Status TakeRowsShape(InferenceContext* c) {
  ShapeHandle rows, indices;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "rows", 2, &rows));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "indices", 1, &indices));
  c->set_output(0, c->Matrix(c->Dim(indices, 0), c->Dim(rows, 1)));
  return absl::OkStatus();
}

constexpr char kTakeRowsDoc[] = R"doc(
Takes some rows of a matrix.
rows: `[n, columns]`.
indices: `[k]`, in `[0, n)`.
taken: `[k, columns]`.
)doc";

#define TAKE_ROWS(NAME, BUG)                                         \
  REGISTER_OP(NAME)                                                  \
      .Input("rows: double")                                         \
      .Input("indices: int32")                                       \
      .Output("taken: double")                                       \
      .SetShapeFn(TakeRowsShape)                                     \
      .Doc(kTakeRowsDoc);                                            \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          TakeRowsOp<Bug::BUG>)

TAKE_ROWS("TakeRows", kNone);
TAKE_ROWS("BrokenTakeRowsUnchecked", kUnchecked);
TAKE_ROWS("BrokenTakeRowsUnnamed", kUnnamed);
TAKE_ROWS("BrokenTakeRowsAnyRank", kAnyRank);
TAKE_ROWS("BrokenTakeRowsOutOfRange", kOutOfRange);
// The bugs of these two are in their gradients, in broken_ops.py.
TAKE_ROWS("BrokenTakeRowsNoNone", kNone);
TAKE_ROWS("BrokenTakeRowsZeros", kNone);

template <Bug bug>
class ScaleRowsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& rows = context->input(0);
    const Tensor& scales = context->input(1);
    OP_REQUIRES_OK(context, HasRank(rows, "rows", 2));
    OP_REQUIRES_OK(context, HasRank(scales, "scales", 1));
    if constexpr (bug != Bug::kUnchecked) {  // Bug: reads past the scales.
      OP_REQUIRES(context, scales.dim_size(0) == rows.dim_size(0),
                  absl::InvalidArgumentError(absl::StrCat(
                      "scales must have one element for each of the ",
                      rows.dim_size(0), " rows, not ", scales.dim_size(0))));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, rows.shape(), &output));
    const auto in = rows.matrix<double>();
    const auto scale = scales.vec<double>();
    auto out = output->matrix<double>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      for (int64_t j = 0; j < in.dimension(1); ++j) {
        out(i, j) = in(i, j) * scale(i);
      }
    }
  }
};

absl::Status ScaleRowsShape(InferenceContext* c) {
  ShapeHandle rows, scales, out;
  DimensionHandle count;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "rows", 2, &rows));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "scales", 1, &scales));
  if (!c->Merge(c->Dim(rows, 0), c->Dim(scales, 0), &count).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "scales must have one element for each of the ",
        c->Value(c->Dim(rows, 0)), " rows, not ", c->Value(c->Dim(scales, 0))));
  }
  TF_RETURN_IF_ERROR(c->ReplaceDim(rows, 0, count, &out));
  c->set_output(0, out);
  return absl::OkStatus();
}

constexpr char kScaleRowsDoc[] = R"doc(
Multiplies each row of a matrix by a number.
rows: `[n, columns]`.
scales: `[n]`.
scaled: `[n, columns]`.
)doc";

#define SCALE_ROWS(NAME, BUG)                                        \
  REGISTER_OP(NAME)                                                  \
      .Input("rows: double")                                         \
      .Input("scales: double")                                       \
      .Output("scaled: double")                                      \
      .SetShapeFn(ScaleRowsShape)                                    \
      .Doc(kScaleRowsDoc);                                           \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          ScaleRowsOp<Bug::BUG>)

SCALE_ROWS("ScaleRows", kNone);
SCALE_ROWS("BrokenScaleRowsUnchecked", kUnchecked);

template <Bug bug>
class RepeatFlatOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const Tensor& repeats = context->input(1);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    OP_REQUIRES_OK(context, HasRank(repeats, "times", 0));
    const int32_t times = repeats.scalar<int32_t>()();
    OP_REQUIRES(context, times >= 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "times must not be negative, but is ", times)));
    // Bug: in int32_t, 6 elements 2^30 times are -2^31.
    using Size = std::conditional_t<bug == Bug::kOverflow, int32_t, int64_t>;
    const Size size = static_cast<Size>(values.NumElements()) * times;
    OP_REQUIRES(context, size <= kMaxSize,
                absl::InvalidArgumentError(absl::StrCat(
                    "times is too large: ", times, " times ",
                    values.NumElements(), " values are more than ", kMaxSize)));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {size}, &output));
    const auto in = values.vec<double>();
    double* out = output->vec<double>().data();
    if (in.size() == 0) return;
    for (int32_t i = 0; i < times; ++i) {
      out = std::copy_n(in.data(), in.size(), out);
    }
  }

 private:
  static constexpr int32_t kMaxSize = 1 << 24;
};

absl::Status RepeatFlatShape(InferenceContext* c) {
  ShapeHandle values, scalar;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "times", 0, &scalar));
  DimensionHandle times, size;
  if (!c->MakeDimForScalarInput(1, &times).ok()) {
    return absl::InvalidArgumentError("times must not be negative");
  }
  if (!c->Multiply(c->Dim(values, 0), times, &size).ok()) {
    return absl::InvalidArgumentError("times is too large");
  }
  c->set_output(0, c->Vector(size));
  return absl::OkStatus();
}

constexpr char kRepeatFlatDoc[] = R"doc(
Repeats a vector.
values: `[n]`.
times: A scalar, not negative; `n * times` is at most `2**24`.
repeated: `[n * times]`.
)doc";

#define REPEAT_FLAT(NAME, BUG)                                       \
  REGISTER_OP(NAME)                                                  \
      .Input("values: double")                                       \
      .Input("times: int32")                                         \
      .Output("repeated: double")                                    \
      .SetShapeFn(RepeatFlatShape)                                   \
      .Doc(kRepeatFlatDoc);                                          \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          RepeatFlatOp<Bug::BUG>)

REPEAT_FLAT("RepeatFlat", kNone);
REPEAT_FLAT("BrokenRepeatFlatOverflow", kOverflow);

template <Bug bug>
class UnitHistogramOp : public tensorflow::OpKernel {
 public:
  explicit UnitHistogramOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("num_bins", &num_bins_));
    OP_REQUIRES(
        context, num_bins_ <= kMaxBins,
        absl::InvalidArgumentError(absl::StrCat(
            "num_bins must be at most ", kMaxBins, ", not ", num_bins_)));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto in = context->input(0).flat<float>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {num_bins_}, &output));
    auto counts = output->vec<int32_t>();
    counts.setZero();
    for (int64_t i = 0; i < in.size(); ++i) {
      bool inside = in(i) >= 0 && in(i) < 1;
      if constexpr (bug == Bug::kNan) {
        inside = !(in(i) < 0 || in(i) >= 1);  // Bug: not for NaN.
      }
      OP_REQUIRES(context, inside,
                  absl::InvalidArgumentError(
                      absl::StrCat("values must be in [0, 1), not ", in(i))));
      // The product can be rounded up to num_bins.
      const int bin = static_cast<int>(in(i) * num_bins_);
      ++counts(std::min<int64_t>(bin, num_bins_ - 1));
    }
  }

 private:
  static constexpr int64_t kMaxBins = 1 << 20;
  int64_t num_bins_;
};

constexpr char kUnitHistogramDoc[] = R"doc(
Counts the numbers in bins of equal width.
values: Of any shape, in `[0, 1)`.
counts: `[num_bins]`.
num_bins: How many bins there are, at most `2**20`.
)doc";

#define UNIT_HISTOGRAM(NAME, BUG)                                    \
  REGISTER_OP(NAME)                                                  \
      .Attr("num_bins: int >= 1 = 10")                               \
      .Input("values: float")                                        \
      .Output("counts: int32")                                       \
      .SetShapeFn([](InferenceContext* c) {                          \
        int64_t num_bins;                                            \
        TF_RETURN_IF_ERROR(c->GetAttr("num_bins", &num_bins));       \
        c->set_output(0, c->Vector(num_bins));                       \
        return absl::OkStatus();                                     \
      })                                                             \
      .Doc(kUnitHistogramDoc);                                       \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          UnitHistogramOp<Bug::BUG>)

UNIT_HISTOGRAM("UnitHistogram", kNone);
UNIT_HISTOGRAM("BrokenUnitHistogramNan", kNan);

template <Bug bug>
class CapitalizeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& texts = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, texts.shape(), &output));
    const auto in = texts.flat<tensorflow::tstring>();
    auto out = output->flat<tensorflow::tstring>();
    for (int64_t i = 0; i < in.size(); ++i) {
      if constexpr (bug == Bug::kFixedBuffer) {
        char buffer[256];  // Bug: a text can be longer.
        std::memcpy(buffer, in(i).data(), in(i).size());
        Capitalize(buffer, in(i).size());
        out(i).assign(buffer, in(i).size());
      } else {
        std::string buffer(in(i).data(), in(i).size());
        Capitalize(buffer.data(), buffer.size());
        out(i) = buffer;
      }
    }
  }

 private:
  static void Capitalize(char* text, size_t size) {
    if (size > 0) text[0] = std::toupper(static_cast<unsigned char>(text[0]));
  }
};

constexpr char kCapitalizeDoc[] = R"doc(
Makes the first letter of each text, if it is ASCII, a capital.
texts: Of any shape.
capitalized: Of the same shape.
)doc";

#define CAPITALIZE(NAME, BUG)                                        \
  REGISTER_OP(NAME)                                                  \
      .Input("texts: string")                                        \
      .Output("capitalized: string")                                 \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape)       \
      .Doc(kCapitalizeDoc);                                          \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          CapitalizeOp<Bug::BUG>)

CAPITALIZE("Capitalize", kNone);
CAPITALIZE("BrokenCapitalizeFixedBuffer", kFixedBuffer);

class RoundToOp : public tensorflow::OpKernel {
 public:
  explicit RoundToOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    int64_t digits;
    OP_REQUIRES_OK(
        context,
        context->GetAttr(context->HasAttr("digits") ? "digits" : "numDigits",
                         &digits));
    OP_REQUIRES(context, digits >= 0 && digits <= 6,
                absl::InvalidArgumentError(
                    absl::StrCat("digits must be from 0 to 6, not ", digits)));
    unit_ = std::pow(10.0, static_cast<double>(digits));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto in = context->input(0).flat<double>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    auto out = output->flat<double>();
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = std::nearbyint(in(i) * unit_) / unit_;
    }
  }

 private:
  double unit_;
};

// Version 1 had no attr. BrokenRoundToNewAttr and BrokenRoundToNewDefault did
// as little in theirs; tests/broken_twins.py has the text of both.
constexpr char kRoundToDoc[] = R"doc(
Rounds to some digits after the point, halves to even.
values: Of any shape.
rounded: Of the same shape.
)doc";

#define ROUND_TO(NAME, DIGITS, DOC)                            \
  REGISTER_OP(NAME)                                            \
      .Attr(DIGITS)                                            \
      .Input("values: double")                                 \
      .Output("rounded: double")                               \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape) \
      .Doc(absl::StrCat(kRoundToDoc, DOC));                    \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), RoundToOp)

ROUND_TO("RoundTo", "digits: int = 0", "digits: How many, 0 to 6.");
ROUND_TO("BrokenRoundToNewAttr", "digits: int", "digits: How many, 0 to 6.");
ROUND_TO("BrokenRoundToNewDefault", "digits: int = 2",
         "digits: How many, 0 to 6.");
ROUND_TO("BrokenRoundToUndocumented", "digits: int = 0", "");
ROUND_TO("BrokenRoundToCamelCase", "numDigits: int = 0",
         "numDigits: How many, 0 to 6.");

class BoxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    output->scalar<tensorflow::Variant>()() = context->input(0);
  }
};

template <Bug bug>
class UnboxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    OP_REQUIRES_OK(context, HasRank(context->input(0), "box", 0));
    const auto& box = context->input(0).scalar<tensorflow::Variant>()();
    const auto* value = box.get<Tensor>();
    if constexpr (bug != Bug::kUnchecked) {  // Bug: nullptr for another type.
      OP_REQUIRES(context, value != nullptr,
                  absl::InvalidArgumentError("box holds no tensor"));
    }
    context->set_output(0, *value);
  }
};

REGISTER_OP("Box")
    .Input("value: int64")
    .Output("box: variant")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);
REGISTER_KERNEL_BUILDER(Name("Box").Device(tensorflow::DEVICE_CPU), BoxOp);

#define UNBOX(NAME, BUG)                                             \
  REGISTER_OP(NAME)                                                  \
      .Input("box: variant")                                         \
      .Output("value: int64")                                        \
      .SetShapeFn(tensorflow::shape_inference::UnknownShape);        \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          UnboxOp<Bug::BUG>)

UNBOX("Unbox", kNone);
UNBOX("BrokenBoxedUnchecked", kUnchecked);

}  // namespace
}  // namespace op_by_op
