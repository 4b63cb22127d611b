// Ops whose bug is in shapes or gradients. unseen_ops.py registers the
// gradients.

#include "pair.h"

namespace op_by_op {
namespace {

template <bool bug>
class InsertAxisOp : public OpKernel {
 public:
  explicit InsertAxisOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("axis", &axis_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const int rank = x.dims();
    int64_t axis = axis_;
    if (axis < 0) axis += bug ? rank : rank + 1;
    OP_REQUIRES(
        context, axis >= 0 && axis <= rank,
        Invalid("axis must be in [", -rank - 1, ", ", rank, "], not ", axis_));
    tensorflow::TensorShape shape = x.shape();
    shape.InsertDim(static_cast<int>(axis), 1);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &y));
    std::copy_n(x.flat<float>().data(), x.NumElements(),
                y->flat<float>().data());
  }

 private:
  int64_t axis_;
};

template <bool bug>
absl::Status InsertAxisShape(InferenceContext* c) {
  if (!c->RankKnown(c->input(0)))
    return tensorflow::shape_inference::UnknownShape(c);
  const int rank = c->Rank(c->input(0));
  int64_t axis;
  TF_RETURN_IF_ERROR(c->GetAttr("axis", &axis));
  const int64_t wanted = axis;
  if (axis < 0) axis += bug ? rank : rank + 1;
  if (axis < 0 || axis > rank) {
    return Invalid("axis must be in [", -rank - 1, ", ", rank, "], not ",
                   wanted);
  }
  std::vector<DimensionHandle> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(c->Dim(c->input(0), i));
  dims.insert(dims.begin() + axis, c->MakeDim(1));
  c->set_output(0, c->MakeShape(dims));
  return absl::OkStatus();
}

PAIR("InsertAxis", InsertAxisOp, InsertAxisShape,
     .Input("x: float").Output("y: float").Attr("axis: int = 0"));

template <bool>
class FlattenRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() >= 1,
                Invalid("x must have rank 1 or more, not 0"));
    int64_t columns = 1;
    for (int i = 1; i < x.dims(); ++i) columns *= x.dim_size(i);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(0), columns}, &y));
    std::copy_n(x.flat<float>().data(), x.NumElements(),
                y->flat<float>().data());
  }
};

template <bool bug>
absl::Status FlattenRowsShape(InferenceContext* c) {
  const ShapeHandle x = c->input(0);
  if (!c->RankKnown(x)) {
    c->set_output(0, c->Matrix(c->UnknownDim(), c->UnknownDim()));
    return absl::OkStatus();
  }
  if (c->Rank(x) == 0) return Invalid("x must have rank 1 or more, not 0");
  if (bug && c->Rank(x) <= 2) {
    c->set_output(0, x);
    return absl::OkStatus();
  }
  DimensionHandle columns = c->MakeDim(1);
  for (int i = 1; i < c->Rank(x); ++i) {
    TF_RETURN_IF_ERROR(c->Multiply(columns, c->Dim(x, i), &columns));
  }
  c->set_output(0, c->Matrix(c->Dim(x, 0), columns));
  return absl::OkStatus();
}

PAIR("FlattenRows", FlattenRowsOp, FlattenRowsShape,
     .Input("x: float").Output("y: float"));

template <bool>
class RepeatEachOp : public OpKernel {
 public:
  explicit RepeatEachOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("times", &times_));
    OP_REQUIRES(c, times_ >= 1 && times_ <= 1024,
                Invalid("times must be in [1, 1024], not ", times_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(0) * times_}, &y));
    const auto in = x.vec<float>();
    auto out = y->vec<float>();
    for (int64_t i = 0; i < out.size(); ++i) out(i) = in(i / times_);
  }

 private:
  int64_t times_;
};

template <bool bug>
absl::Status RepeatEachShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &x));
  if constexpr (bug) {
    c->set_output(0, c->Vector(c->UnknownDim()));
    return absl::OkStatus();
  }
  int64_t times;
  TF_RETURN_IF_ERROR(c->GetAttr("times", &times));
  if (times < 1 || times > 1024) {
    return Invalid("times must be in [1, 1024], not ", times);
  }
  DimensionHandle size;
  TF_RETURN_IF_ERROR(c->Multiply(c->Dim(x, 0), times, &size));
  c->set_output(0, c->Vector(size));
  return absl::OkStatus();
}

PAIR("RepeatEach", RepeatEachOp, RepeatEachShape,
     .Input("x: float").Output("y: float").Attr("times: int"));

template <bool>
class PadToOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& size = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    OP_REQUIRES_OK(context, HasRank(size, "size", 0));
    const int64_t count = size.scalar<int32_t>()();
    OP_REQUIRES(
        context, count >= x.dim_size(0) && count <= 1 << 20,
        Invalid("size must be in [", x.dim_size(0), ", 2**20], not ", count));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {count}, &y));
    float* out = y->vec<float>().data();
    std::fill_n(std::copy_n(x.vec<float>().data(), x.dim_size(0), out),
                count - x.dim_size(0), 0.0f);
  }
};

template <bool bug>
absl::Status PadToShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &unused));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "size", 0, &unused));
  const Tensor* size = c->input_tensor(1);
  if (!bug && size == nullptr) {
    c->set_output(0, c->Vector(c->UnknownDim()));
    return absl::OkStatus();
  }
  const int32_t count = size->scalar<int32_t>()();
  if (count < 0) return Invalid("size must not be negative, but is ", count);
  c->set_output(0, c->Vector(count));
  return absl::OkStatus();
}

PAIR("PadTo", PadToOp, PadToShape,
     .Input("x: float").Input("size: int32").Output("y: float"));

template <bool>
class StackRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    tensorflow::OpInputList parts;
    OP_REQUIRES_OK(context, context->input_list("parts", &parts));
    int64_t rows = 0;
    for (int i = 0; i < parts.size(); ++i) {
      OP_REQUIRES_OK(context, HasRank(parts[i], "parts", 2));
      OP_REQUIRES(context, parts[i].dim_size(1) == parts[0].dim_size(1),
                  Invalid("parts must have one number of columns, not ",
                          parts[0].dim_size(1), " and ", parts[i].dim_size(1)));
      rows += parts[i].dim_size(0);
    }
    Tensor* all = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, {rows, parts[0].dim_size(1)}, &all));
    float* out = all->flat<float>().data();
    for (const Tensor& part : parts) {
      out = std::copy_n(part.flat<float>().data(), part.NumElements(), out);
    }
  }
};

template <bool bug>
absl::Status StackRowsShape(InferenceContext* c) {
  DimensionHandle rows = c->MakeDim(0), columns = c->UnknownDim();
  for (int i = 0; i < c->num_inputs(); ++i) {
    ShapeHandle part;
    TF_RETURN_IF_ERROR(HasRank(c, i, "parts", 2, &part));
    if (!c->Merge(columns, c->Dim(part, 1), &columns).ok()) {
      return Invalid("parts must have one number of columns");
    }
    if constexpr (!bug) {
      TF_RETURN_IF_ERROR(c->Add(rows, c->Dim(part, 0), &rows));
    }
  }
  if constexpr (bug) {
    TF_RETURN_IF_ERROR(
        c->Multiply(c->Dim(c->input(0), 0), c->num_inputs(), &rows));
  }
  c->set_output(0, c->Matrix(rows, columns));
  return absl::OkStatus();
}

PAIR("StackRows", StackRowsOp, StackRowsShape,
     .Input("parts: N * float").Output("all: float").Attr("N: int >= 1"));

template <typename T, bool>
class SoftRampOp : public OpKernel {
 public:
  explicit SoftRampOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("beta", &beta_));
    OP_REQUIRES(c, beta_ > 0, Invalid("beta must be positive, not ", beta_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    const double beta = beta_;
    for (int64_t i = 0; i < in.size(); ++i) {
      const double z = beta * in(i);
      const double ramp = std::isnan(z) ? z : std::max(z, 0.0);
      out(i) =
          static_cast<T>((ramp + std::log1p(std::exp(-std::abs(z)))) / beta);
    }
  }

 private:
  float beta_;
};

OP_PAIR("SoftRamp", FirstShape,
        .Attr("T: {float, double}")
            .Input("x: T")
            .Output("y: T")
            .Attr("beta: float = 1.0"));
KERNEL_PAIR("SoftRamp", float, SoftRampOp);
KERNEL_PAIR("SoftRamp", double, SoftRampOp);

template <typename T, bool>
class PickRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& table = context->input(0);
    const Tensor& ids = context->input(1);
    OP_REQUIRES_OK(context, HasRank(table, "table", 2));
    OP_REQUIRES_OK(context, HasRank(ids, "ids", 1));
    const int64_t rows = table.dim_size(0), columns = table.dim_size(1);
    Tensor* picked = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, {ids.dim_size(0), columns}, &picked));
    const auto id = ids.vec<int32_t>();
    T* out = picked->flat<T>().data();
    for (int64_t i = 0; i < id.size(); ++i) {
      const int64_t row = id(i);
      OP_REQUIRES(
          context, row >= 0 && row < rows,
          Invalid("ids must be in [0, ", rows, "), but ids[", i, "] is ", row));
      out = std::copy_n(table.flat<T>().data() + row * columns, columns, out);
    }
  }
};

template <bool>
absl::Status PickRowsShape(InferenceContext* c) {
  ShapeHandle table, ids;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "table", 2, &table));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "ids", 1, &ids));
  c->set_output(0, c->Matrix(c->Dim(ids, 0), c->Dim(table, 1)));
  return absl::OkStatus();
}

OP_PAIR("PickRows", PickRowsShape,
        .Attr("T: {float, double}")
            .Input("table: T")
            .Input("ids: int32")
            .Output("picked: T"));
KERNEL_PAIR("PickRows", float, PickRowsOp);
KERNEL_PAIR("PickRows", double, PickRowsOp);

template <typename T, bool>
class WeighRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& weights = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(weights, "weights", 1));
    OP_REQUIRES(context, weights.dim_size(0) == x.dim_size(0),
                Invalid("weights must have ", x.dim_size(0), " elements, not ",
                        weights.dim_size(0)));
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(1)}, &sums));
    const auto in = x.matrix<T>();
    const auto weight = weights.vec<T>();
    auto out = sums->vec<T>();
    for (int64_t j = 0; j < in.dimension(1); ++j) {
      double sum = 0;
      for (int64_t i = 0; i < in.dimension(0); ++i) {
        sum += static_cast<double>(in(i, j)) * weight(i);
      }
      out(j) = static_cast<T>(sum);
    }
  }
};

template <bool>
absl::Status WeighRowsShape(InferenceContext* c) {
  ShapeHandle x, weights;
  DimensionHandle rows;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "weights", 1, &weights));
  if (!c->Merge(c->Dim(x, 0), c->Dim(weights, 0), &rows).ok()) {
    return Invalid("weights must have one element for each row of x");
  }
  c->set_output(0, c->Vector(c->Dim(x, 1)));
  return absl::OkStatus();
}

OP_PAIR("WeighRows", WeighRowsShape,
        .Attr("T: {float, double}")
            .Input("x: T")
            .Input("weights: T")
            .Output("sums: T"));
KERNEL_PAIR("WeighRows", float, WeighRowsOp);
KERNEL_PAIR("WeighRows", double, WeighRowsOp);

template <typename T, bool>
class ShiftColumnsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& shift = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(shift, "shift", 1));
    const int64_t columns = x.dim_size(1);
    const bool single = shift.dim_size(0) == 1;
    OP_REQUIRES(context, single || shift.dim_size(0) == columns,
                Invalid("shift must have 1 or ", columns, " elements, not ",
                        shift.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.matrix<T>();
    const auto add = shift.vec<T>();
    auto out = y->matrix<T>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        out(i, j) = in(i, j) + add(single ? 0 : j);
      }
    }
  }
};

template <bool>
absl::Status ShiftColumnsShape(InferenceContext* c) {
  ShapeHandle x, shift;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "shift", 1, &shift));
  c->set_output(0, x);
  return absl::OkStatus();
}

OP_PAIR(
    "ShiftColumns", ShiftColumnsShape,
    .Attr("T: {float, double}").Input("x: T").Input("shift: T").Output("y: T"));
KERNEL_PAIR("ShiftColumns", float, ShiftColumnsOp);
KERNEL_PAIR("ShiftColumns", double, ShiftColumnsOp);

template <typename T, bool>
class LogCoshOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      const double size = std::abs(static_cast<double>(in(i)));
      out(i) = static_cast<T>(size + std::log1p(std::exp(-2 * size)) - M_LN2);
    }
  }
};

OP_PAIR("StableLogCosh", FirstShape,
        .Attr("T: {float, double}").Input("x: T").Output("y: T"));
KERNEL_PAIR("StableLogCosh", float, LogCoshOp);
KERNEL_PAIR("StableLogCosh", double, LogCoshOp);

template <typename T, bool>
class SineSquareOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      const double sine = std::sin(static_cast<double>(in(i)));
      out(i) = static_cast<T>(sine * sine);
    }
  }
};

OP_PAIR("SineSquare", FirstShape,
        .Attr("T: {float, double}").Input("x: T").Output("y: T"));
KERNEL_PAIR("SineSquare", float, SineSquareOp);
KERNEL_PAIR("SineSquare", double, SineSquareOp);

template <typename T, bool>
class MaskedAverageOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& mask = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(mask, "mask", 1));
    OP_REQUIRES(context, mask.dim_size(0) == x.dim_size(0),
                Invalid("mask must have ", x.dim_size(0), " elements, not ",
                        mask.dim_size(0)));
    Tensor* means = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(1)}, &means));
    const auto in = x.matrix<T>();
    const auto kept = mask.vec<bool>();
    auto out = means->vec<T>();
    for (int64_t j = 0; j < in.dimension(1); ++j) {
      double sum = 0, count = 0;
      for (int64_t i = 0; i < in.dimension(0); ++i) {
        if (!kept(i)) continue;
        sum += in(i, j);
        ++count;
      }
      out(j) = static_cast<T>(count > 0 ? sum / count : 0);
    }
  }
};

template <bool>
absl::Status MaskedAverageShape(InferenceContext* c) {
  ShapeHandle x, mask;
  DimensionHandle rows;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "mask", 1, &mask));
  if (!c->Merge(c->Dim(x, 0), c->Dim(mask, 0), &rows).ok()) {
    return Invalid("mask must have one element for each row of x");
  }
  c->set_output(0, c->Vector(c->Dim(x, 1)));
  return absl::OkStatus();
}

OP_PAIR("MaskedAverage", MaskedAverageShape,
        .Attr("T: {float, double}")
            .Input("x: T")
            .Input("mask: bool")
            .Output("means: T"));
KERNEL_PAIR("MaskedAverage", float, MaskedAverageOp);
KERNEL_PAIR("MaskedAverage", double, MaskedAverageOp);

}  // namespace
}  // namespace op_by_op
