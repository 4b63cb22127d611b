// Ops whose bug shows only for some elements, or in some order of them: equal
// ones, zeros of both signs, tiny ones, characters of several bytes.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "common.h"

namespace op_by_op {
namespace {

using ::tensorflow::tstring;
using ::tensorflow::shape_inference::MergeBothInputsShapeFn;
using ::tensorflow::shape_inference::ScalarShape;
using ::tensorflow::shape_inference::UnchangedShape;

absl::Status ShapeOfVector(InferenceContext* c) {
  ShapeHandle values;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  c->set_output(0, values);
  return absl::OkStatus();
}

// A correct op and one with the bug, both of one input and one output.
#define PAIR(NAME, BUG, INPUT, OUTPUT, SHAPE, KERNEL, DOC)                  \
  REGISTER_OP(NAME).Input(INPUT).Output(OUTPUT).SetShapeFn(SHAPE).Doc(DOC); \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU),        \
                          KERNEL<false>);                                   \
  REGISTER_OP("Broken" NAME BUG)                                            \
      .Input(INPUT)                                                         \
      .Output(OUTPUT)                                                       \
      .SetShapeFn(SHAPE)                                                    \
      .Doc(DOC);                                                            \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name("Broken" NAME BUG).Device(tensorflow::DEVICE_CPU), KERNEL<true>)

template <bool broken>
class DistinctCountOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    std::set<uint32_t> seen;
    const auto in = context->input(0).flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      float value = std::isnan(in(i)) ? NAN : in(i);
      if (!broken && value == 0) value = 0;  // Bug: -0.0 is another one.
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof(bits));
      seen.insert(bits);
    }
    Tensor* count = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &count));
    count->scalar<int64_t>()() = seen.size();
  }
};

PAIR("DistinctCount", "Bits", "values: float", "count: int64", ScalarShape,
     DistinctCountOp, R"doc(
Counts the different values. 0.0 and -0.0 are one, and so are all NaNs.
values: Any shape.
count: A scalar.
)doc");

template <bool broken>
class RankOrderOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    OP_REQUIRES_OK(context, HasRank(context->input(0), "values", 1));
    const auto in = context->input(0).vec<int32_t>();
    Tensor* order = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &order));
    int64_t* begin = order->flat<int64_t>().data();
    int64_t* end = begin + in.size();
    std::iota(begin, end, 0);
    const auto less = [&in](int64_t i, int64_t j) { return in(i) < in(j); };
    if (broken) {
      std::sort(begin, end, less);  // Bug: from 17 elements on, in any order.
    } else {
      std::stable_sort(begin, end, less);
    }
  }
};

PAIR("RankOrder", "Unstable", "values: int32", "order: int64", ShapeOfVector,
     RankOrderOp, R"doc(
The indices that sort a vector. Equal elements keep their order.
values: `[n]`.
order: `[n]`.
)doc");

template <bool broken>
class LogOfOneAndOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto in = context->input(0).flat<float>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    auto out = output->flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      // Bug: 1 + x is 1 for a tiny x.
      out(i) = broken ? std::log(1 + in(i)) : std::log1p(in(i));
    }
  }
};

PAIR("LogOfOneAnd", "Tiny", "values: float", "logs: float", UnchangedShape,
     LogOfOneAndOp, R"doc(
The logarithm of 1 + x.
values: Any shape.
logs: The same shape; NaN where a value is less than -1.
)doc");

template <bool broken>
class InitialsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto in = context->input(0).flat<tstring>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    auto out = output->flat<tstring>();
    for (int64_t i = 0; i < in.size(); ++i) {
      size_t end = std::min<size_t>(1, in(i).size());
      // Bug: the first byte is not always the first character.
      while (!broken && end < in(i).size() && (in(i)[end] & 0xC0) == 0x80) {
        ++end;
      }
      out(i) = tstring(in(i).data(), end);
    }
  }
};

PAIR("Initials", "Bytes", "values: string", "initials: string", UnchangedShape,
     InitialsOp, R"doc(
The first character of each string.
values: UTF-8, any shape. A byte 10xxxxxx belongs to the one before.
initials: The same shape.
)doc");

// How deep brackets are nested; -1 if they do not match, -2 if too deep.
template <bool broken>
int64_t Depth(const tstring& text, size_t* at, int64_t level) {
  // Bug: without a limit, the stack ends.
  if (!broken && level > 1000) return -2;
  int64_t deepest = 0;
  while (*at < text.size()) {
    const char here = text[(*at)++];
    if (here == ']') return level > 0 ? deepest : -1;
    if (here != '[') continue;
    const int64_t depth = Depth<broken>(text, at, level + 1);
    if (depth < 0) return depth;
    deepest = std::max(deepest, depth + 1);
  }
  return level > 0 ? -1 : deepest;
}

template <bool broken>
class NestingOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto in = context->input(0).flat<tstring>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    for (int64_t i = 0; i < in.size(); ++i) {
      size_t at = 0;
      const int64_t depth = Depth<broken>(in(i), &at, 0);
      OP_REQUIRES(context, depth >= 0,
                  absl::InvalidArgumentError(
                      absl::StrCat("values[", i,
                                   "] has brackets that do not match, or "
                                   "more than 1000 in each other")));
      output->flat<int64_t>()(i) = depth;
    }
  }
};

PAIR("Nesting", "Recursive", "values: string", "depths: int64", UnchangedShape,
     NestingOp, R"doc(
How deep brackets are nested.
values: Any shape. At most 1000 brackets in each other.
depths: The same shape.
)doc");

template <bool broken>
class GroupMaxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& groups = context->input(0);
    const Tensor& values = context->input(1);
    OP_REQUIRES_OK(context, HasRank(groups, "groups", 1));
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    OP_REQUIRES(context, groups.dim_size(0) == values.dim_size(0),
                absl::InvalidArgumentError(
                    absl::StrCat("groups has ", groups.dim_size(0),
                                 " elements, values ", values.dim_size(0))));
    const auto group = groups.vec<int32_t>();
    const auto in = values.vec<float>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {4}, &output));
    auto out = output->vec<float>();
    out.setConstant(-std::numeric_limits<float>::infinity());
    for (int64_t i = 0; i < in.size(); ++i) {
      const int32_t g = group(i);
      OP_REQUIRES(context, g >= 0 && g < 4,
                  absl::InvalidArgumentError(absl::StrCat(
                      "groups must be in [0, 4), but groups[", i, "] is ", g)));
      // Bug: elsewhere, the group may have begun already.
      const bool first = broken && (i == 0 || group(i - 1) != g);
      if (first || in(i) > out(g)) out(g) = in(i);
    }
  }
};

absl::Status GroupMaxShape(InferenceContext* c) {
  ShapeHandle groups, values;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "groups", 1, &groups));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "values", 1, &values));
  TF_RETURN_IF_ERROR(c->Merge(groups, values, &groups));
  c->set_output(0, c->Vector(4));
  return absl::OkStatus();
}

constexpr char kGroupMaxDoc[] = R"doc(
The greatest value of each of four groups.
groups: `[n]`, in `[0, 4)`, in any order.
values: `[n]`; NaN is not the greatest.
greatest: `[4]`, -inf for a group without values.
)doc";

#define GROUP_MAX(NAME, BROKEN)                                      \
  REGISTER_OP(NAME)                                                  \
      .Input("groups: int32")                                        \
      .Input("values: float")                                        \
      .Output("greatest: float")                                     \
      .SetShapeFn(GroupMaxShape)                                     \
      .Doc(kGroupMaxDoc);                                            \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          GroupMaxOp<BROKEN>)

GROUP_MAX("GroupMax", false);
GROUP_MAX("BrokenGroupMaxSorted", true);

template <bool broken>
class QuotientsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES(context, a.shape() == b.shape(),
                absl::InvalidArgumentError(
                    absl::StrCat("a has shape ", a.shape().DebugString(),
                                 ", b ", b.shape().DebugString())));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, a.shape(), &output));
    for (int64_t i = 0; i < a.NumElements(); ++i) {
      const int32_t x = a.flat<int32_t>()(i), y = b.flat<int32_t>()(i);
      OP_REQUIRES(context, y != 0,
                  absl::InvalidArgumentError(
                      absl::StrCat("b must not be 0, but b[", i, "] is")));
      // Bug: that of the least integer and -1 is too large.
      output->flat<int32_t>()(i) =
          !broken && y == -1 ? static_cast<int32_t>(0u - x) : x / y;
    }
  }
};

constexpr char kQuotientsDoc[] = R"doc(
Quotients, rounded towards 0.
a: Any shape.
b: The same shape, without zeros.
quotients: The same shape. -2**31 / -1 is -2**31.
)doc";

#define QUOTIENTS(NAME, BROKEN)                                      \
  REGISTER_OP(NAME)                                                  \
      .Input("a: int32")                                             \
      .Input("b: int32")                                             \
      .Output("quotients: int32")                                    \
      .SetShapeFn(MergeBothInputsShapeFn)                            \
      .Doc(kQuotientsDoc);                                           \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          QuotientsOp<BROKEN>)

QUOTIENTS("Quotients", false);
QUOTIENTS("BrokenQuotientsTrap", true);

template <typename T, bool broken>
class DequantizedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));
    const auto* in = reinterpret_cast<const uint8_t*>(input.flat<T>().data());
    // Bug: what is over 127 has no sign.
    constexpr bool kSigned = broken || std::is_same_v<T, tensorflow::qint8>;
    for (int64_t i = 0; i < input.NumElements(); ++i) {
      output->flat<float>()(i) =
          kSigned ? static_cast<int8_t>(in[i]) : static_cast<float>(in[i]);
    }
  }
};

constexpr char kDequantizedDoc[] = R"doc(
Quantized numbers as floats.
values: Any shape.
floats: The same shape.
)doc";

#define DEQUANTIZED(NAME, BROKEN)                            \
  REGISTER_OP(NAME)                                          \
      .Attr("T: {qint8, quint8}")                            \
      .Input("values: T")                                    \
      .Output("floats: float")                               \
      .SetShapeFn(UnchangedShape)                            \
      .Doc(kDequantizedDoc);                                 \
  OP_BY_OP_KERNEL(NAME, tensorflow::qint8,                   \
                  DequantizedOp<tensorflow::qint8, BROKEN>); \
  OP_BY_OP_KERNEL(NAME, tensorflow::quint8,                  \
                  DequantizedOp<tensorflow::quint8, BROKEN>)

DEQUANTIZED("Dequantized", false);
DEQUANTIZED("BrokenDequantizedSigned", true);

template <typename T>
class SquaredOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const auto in = context->input(0).flat<T>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    auto out = output->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) out(i) = in(i) * in(i);
  }
};

constexpr char kSquaredDoc[] = R"doc(
Squares of real or complex numbers.
values: Any shape.
squares: The same shape.
)doc";

#define SQUARED(NAME)                               \
  REGISTER_OP(NAME)                                 \
      .Attr("T: {double, complex128}")              \
      .Input("values: T")                           \
      .Output("squares: T")                         \
      .SetShapeFn(UnchangedShape)                   \
      .Doc(kSquaredDoc);                            \
  OP_BY_OP_KERNEL(NAME, double, SquaredOp<double>); \
  OP_BY_OP_KERNEL(NAME, std::complex<double>, SquaredOp<std::complex<double>>)

// The bug is in its gradient, in broken_ops.py.
SQUARED("Squared");
SQUARED("BrokenSquaredConjugate");

}  // namespace
}  // namespace op_by_op
