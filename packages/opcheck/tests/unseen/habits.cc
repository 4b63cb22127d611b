// Ops with what authors of ops are in the habit of forgetting: what a sample
// call does not show.

#include "pair.h"

namespace op_by_op {
namespace {

// Values

template <bool bug>
class SegmentMeanRowsOp : public OpKernel {
 public:
  explicit SegmentMeanRowsOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("count", &count_));
    OP_REQUIRES(c, count_ >= 0 && count_ <= 4096,
                Invalid("count must be in [0, 4096], not ", count_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& segments = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(segments, "segments", 1));
    OP_REQUIRES(context, segments.dim_size(0) == x.dim_size(0),
                Invalid("segments must have one element for each of the ",
                        x.dim_size(0), " rows, not ", segments.dim_size(0)));
    const auto segment = segments.vec<int32_t>();
    for (int64_t i = 0; i < segment.size(); ++i) {
      OP_REQUIRES(
          context, segment(i) >= 0 && segment(i) < count_,
          Invalid("segments must be in [0, ", count_, "), not ", segment(i)));
    }
    Tensor* means = nullptr;
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {count_, columns}, &means));
    std::vector<double> sums(count_ * columns);
    std::vector<int64_t> rows(count_);
    const auto in = x.matrix<float>();
    for (int64_t i = 0; i < segment.size(); ++i) {
      ++rows[segment(i)];
      for (int64_t j = 0; j < columns; ++j) {
        sums[segment(i) * columns + j] += in(i, j);
      }
    }
    auto out = means->matrix<float>();
    for (int64_t s = 0; s < count_; ++s) {
      const double divisor = bug ? rows[s] : std::max<int64_t>(rows[s], 1);
      for (int64_t j = 0; j < columns; ++j) {
        out(s, j) = static_cast<float>(sums[s * columns + j] / divisor);
      }
    }
  }

 private:
  int64_t count_;
};

template <bool>
absl::Status SegmentMeanRowsShape(InferenceContext* c) {
  ShapeHandle x, segments;
  DimensionHandle rows;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "segments", 1, &segments));
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(x, 0), c->Dim(segments, 0), &rows));
  int64_t count;
  TF_RETURN_IF_ERROR(c->GetAttr("count", &count));
  if (count < 0 || count > 4096) {
    return Invalid("count must be in [0, 4096], not ", count);
  }
  c->set_output(0, c->Matrix(count, c->Dim(x, 1)));
  return absl::OkStatus();
}

PAIR("SegmentMeanRows", SegmentMeanRowsOp, SegmentMeanRowsShape,
     .Input("x: float")
         .Input("segments: int32")
         .Output("means: float")
         .Attr("count: int"));

template <bool bug>
class TopColumnsOp : public OpKernel {
 public:
  explicit TopColumnsOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("k", &k_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, k_ >= 0 && k_ <= columns,
                Invalid("k must be in [0, ", columns, "], not ", k_));
    Tensor* indices = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(0), k_}, &indices));
    const auto in = x.matrix<float>();
    auto out = indices->matrix<int32_t>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      std::vector<bool> taken(columns);
      for (int64_t n = 0; n < k_; ++n) {
        int64_t best = -1;
        for (int64_t j = 0; j < columns; ++j) {
          if (!taken[j] && (best < 0 || Before(in(i, j), in(i, best)))) {
            best = j;
          }
        }
        taken[best] = true;
        out(i, n) = static_cast<int32_t>(best);
      }
    }
  }

 private:
  static bool Before(float a, float b) {
    if (std::isnan(b)) return bug || !std::isnan(a);
    return bug ? a >= b : a > b;
  }

  int64_t k_;
};

template <bool>
absl::Status TopColumnsShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  int64_t k;
  TF_RETURN_IF_ERROR(c->GetAttr("k", &k));
  const DimensionHandle columns = c->Dim(x, 1);
  if (k < 0 || (c->ValueKnown(columns) && k > c->Value(columns))) {
    return Invalid("k must be in [0, ", c->DebugString(columns), "], not ", k);
  }
  c->set_output(0, c->Matrix(c->Dim(x, 0), k));
  return absl::OkStatus();
}

PAIR("TopColumns", TopColumnsOp, TopColumnsShape,
     .Input("x: float").Output("indices: int32").Attr("k: int = 1"));

template <bool bug>
class UnitRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() >= 1,
                Invalid("x must have rank 1 or more, not 0"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    int64_t columns = x.dim_size(x.dims() - 1);
    if (bug && x.dims() > 1) columns = x.NumElements() / x.dim_size(0);
    const float* in = x.flat<float>().data();
    float* out = y->flat<float>().data();
    for (int64_t start = 0; start < x.NumElements(); start += columns) {
      double sum = 0;
      for (int64_t j = start; j < start + columns; ++j) {
        sum += static_cast<double>(in[j]) * in[j];
      }
      const double length = sum == 0 ? 1 : std::sqrt(sum);
      for (int64_t j = start; j < start + columns; ++j) {
        out[j] = static_cast<float>(in[j] / length);
      }
    }
  }
};

template <bool>
absl::Status UnitRowsShape(InferenceContext* c) {
  ShapeHandle x = c->input(0);
  if (c->RankKnown(x) && c->Rank(x) == 0) {
    return Invalid("x must have rank 1 or more, not 0");
  }
  c->set_output(0, x);
  return absl::OkStatus();
}

PAIR("UnitRows", UnitRowsOp, UnitRowsShape,
     .Input("x: float").Output("y: float"));

absl::Status CheckWindow(const std::vector<int64_t>& window) {
  if (window.size() == 2 && window[0] >= 1 && window[1] >= 1) {
    return absl::OkStatus();
  }
  return Invalid("window must be two positive numbers");
}

template <bool bug>
class PoolWindowOp : public OpKernel {
 public:
  explicit PoolWindowOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("window", &window_));
    OP_REQUIRES_OK(c, CheckWindow(window_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t tall = window_[0];
    const int64_t wide = window_[bug ? 0 : 1];
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(
                       0, {x.dim_size(0) / tall, x.dim_size(1) / wide}, &y));
    const auto in = x.matrix<float>();
    auto out = y->matrix<float>();
    for (int64_t i = 0; i < out.dimension(0); ++i) {
      for (int64_t j = 0; j < out.dimension(1); ++j) {
        float best = in(i * tall, j * wide);
        for (int64_t a = 0; a < tall; ++a) {
          for (int64_t b = 0; b < wide; ++b) {
            const float value = in(i * tall + a, j * wide + b);
            if (value > best || std::isnan(value)) best = value;
          }
        }
        out(i, j) = best;
      }
    }
  }

 private:
  std::vector<int64_t> window_;
};

template <bool bug>
absl::Status PoolWindowShape(InferenceContext* c) {
  ShapeHandle x;
  DimensionHandle rows, columns;
  std::vector<int64_t> window;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(c->GetAttr("window", &window));
  TF_RETURN_IF_ERROR(CheckWindow(window));
  TF_RETURN_IF_ERROR(c->Divide(c->Dim(x, 0), window[0], false, &rows));
  TF_RETURN_IF_ERROR(
      c->Divide(c->Dim(x, 1), window[bug ? 0 : 1], false, &columns));
  c->set_output(0, c->Matrix(rows, columns));
  return absl::OkStatus();
}

PAIR("PoolWindow", PoolWindowOp, PoolWindowShape,
     .Input("x: float").Output("y: float").Attr("window: list(int) = [2, 2]"));

template <bool bug>
class RowVarianceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, columns > 0, Invalid("x must have columns, not 0"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {x.dim_size(0)}, &y));
    const auto in = x.matrix<float>();
    auto out = y->vec<float>();
    for (int64_t i = 0; i < out.size(); ++i) {
      if constexpr (bug) {
        float sum = 0, squares = 0;
        for (int64_t j = 0; j < columns; ++j) {
          sum += in(i, j);
          squares += in(i, j) * in(i, j);
        }
        const float mean = sum / columns;
        out(i) = squares / columns - mean * mean;
      } else {
        double mean = 0, squares = 0;
        for (int64_t j = 0; j < columns; ++j) mean += in(i, j);
        mean /= columns;
        for (int64_t j = 0; j < columns; ++j) {
          squares += (in(i, j) - mean) * (in(i, j) - mean);
        }
        out(i) = static_cast<float>(squares / columns);
      }
    }
  }
};

template <bool>
absl::Status RowsShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  const DimensionHandle columns = c->Dim(x, 1);
  if (c->ValueKnown(columns) && c->Value(columns) == 0) {
    return Invalid("x must have columns, not 0");
  }
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, c->Vector(c->Dim(x, 0)));
  }
  return absl::OkStatus();
}

PAIR("RowVariance", RowVarianceOp, RowsShape,
     .Input("x: float").Output("y: float"));

template <typename T, bool bug>
class AbsoluteDifferenceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES(context, a.shape() == b.shape(),
                Invalid("b must have the shape of a, ", a.shape().DebugString(),
                        ", not ", b.shape().DebugString()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, a.shape(), &y));
    const auto left = a.flat<T>();
    const auto right = b.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      const T difference = left(i) - right(i);
      out(i) = difference;
      if (bug ? difference < T(0) : left(i) < right(i)) {
        out(i) = right(i) - left(i);
      }
    }
  }
};

template <bool>
absl::Status SameShape(InferenceContext* c) {
  ShapeHandle both;
  if (!c->Merge(c->input(0), c->input(1), &both).ok()) {
    return Invalid("b must have the shape of a, ", c->DebugString(c->input(0)),
                   ", not ", c->DebugString(c->input(1)));
  }
  c->set_output(0, both);
  return absl::OkStatus();
}

OP_PAIR("AbsoluteDifference", SameShape,
        .Input("a: T").Input("b: T").Output("y: T").Attr("T: {float, uint8}"));
KERNEL_PAIR("AbsoluteDifference", float, AbsoluteDifferenceOp);
KERNEL_PAIR("AbsoluteDifference", uint8_t, AbsoluteDifferenceOp);

template <bool bug>
class ToInt8Op : public OpKernel {
 public:
  explicit ToInt8Op(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("scale", &scale_));
    OP_REQUIRES(c, scale_ > 0 && std::isfinite(scale_),
                Invalid("scale must be positive and finite, not ", scale_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<float>();
    auto out = y->flat<int8_t>();
    for (int64_t i = 0; i < out.size(); ++i) {
      float rounded = std::rint(in(i) / scale_);
      if (std::isnan(rounded)) rounded = 0;
      if (!bug) rounded = std::min(std::max(rounded, -128.f), 127.f);
      out(i) = static_cast<int8_t>(static_cast<int64_t>(rounded));
    }
  }

 private:
  float scale_;
};

PAIR("ToInt8", ToInt8Op, FirstShape,
     .Input("x: float").Output("y: int8").Attr("scale: float = 0.05"));

// Bad input

template <bool bug>
class RaggedSumsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const Tensor& splits = context->input(1);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    OP_REQUIRES_OK(context, HasRank(splits, "splits", 1));
    const auto in = values.vec<float>();
    const auto split = splits.vec<int32_t>();
    const int64_t rows = split.size() - 1;
    OP_REQUIRES(context, rows >= 0 && split(0) == 0,
                Invalid("splits must begin with 0"));
    for (int64_t i = 0; i < rows; ++i) {
      OP_REQUIRES(context, split(i) <= split(i + 1),
                  Invalid("splits must not fall, as after element ", i));
    }
    OP_REQUIRES(context, bug || split(rows) == in.size(),
                Invalid("splits must end with the number of values, ",
                        in.size(), ", not ", split(rows)));
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {rows}, &sums));
    auto out = sums->vec<float>();
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (int32_t j = split(i); j < split(i + 1); ++j) sum += in(j);
      out(i) = static_cast<float>(sum);
    }
  }
};

template <bool>
absl::Status RaggedSumsShape(InferenceContext* c) {
  ShapeHandle values, splits;
  DimensionHandle rows;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "splits", 1, &splits));
  if (!c->Subtract(c->Dim(splits, 0), 1, &rows).ok()) {
    return Invalid("splits must begin with 0");
  }
  c->set_output(0, c->Vector(rows));
  return absl::OkStatus();
}

PAIR("RaggedSums", RaggedSumsOp, RaggedSumsShape,
     .Input("values: float").Input("splits: int32").Output("sums: float"));

// Shapes

template <bool>
class SumFirstAxisOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() >= 1,
                Invalid("x must have rank 1 or more, not 0"));
    tensorflow::TensorShape shape = x.shape();
    shape.RemoveDim(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &y));
    const auto in = x.flat<float>();
    auto out = y->flat<float>();
    for (int64_t j = 0; j < out.size(); ++j) {
      double sum = 0;
      for (int64_t i = j; i < in.size(); i += out.size()) sum += in(i);
      out(j) = static_cast<float>(sum);
    }
  }
};

template <bool bug>
absl::Status SumFirstAxisShape(InferenceContext* c) {
  const ShapeHandle x = c->input(0);
  if (!c->RankKnown(x)) {
    c->set_output(0, bug ? c->Vector(c->UnknownDim()) : c->UnknownShape());
    return absl::OkStatus();
  }
  if (c->Rank(x) == 0) return Invalid("x must have rank 1 or more, not 0");
  ShapeHandle y;
  TF_RETURN_IF_ERROR(c->Subshape(x, 1, &y));
  c->set_output(0, y);
  return absl::OkStatus();
}

PAIR("SumFirstAxis", SumFirstAxisOp, SumFirstAxisShape,
     .Input("x: float").Output("y: float"));

// Gradients: unseen_ops.py registers them.

template <bool>
class RowLengthOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {x.dim_size(0)}, &y));
    const auto in = x.matrix<float>();
    auto out = y->vec<float>();
    for (int64_t i = 0; i < out.size(); ++i) {
      double sum = 0;
      for (int64_t j = 0; j < in.dimension(1); ++j) {
        sum += static_cast<double>(in(i, j)) * in(i, j);
      }
      out(i) = static_cast<float>(std::sqrt(sum));
    }
  }
};

template <bool>
absl::Status RowLengthShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  c->set_output(0, c->Vector(c->Dim(x, 0)));
  return absl::OkStatus();
}

PAIR("RowLength", RowLengthOp, RowLengthShape,
     .Input("x: float").Output("y: float"));

template <bool>
class LargerOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES(context, a.shape() == b.shape(),
                Invalid("b must have the shape of a, ", a.shape().DebugString(),
                        ", not ", b.shape().DebugString()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, a.shape(), &y));
    const auto left = a.flat<float>();
    const auto right = b.flat<float>();
    auto out = y->flat<float>();
    for (int64_t i = 0; i < out.size(); ++i) {
      const bool first = left(i) > right(i) || std::isnan(left(i));
      out(i) = first ? left(i) : right(i);
    }
  }
};

PAIR("Larger", LargerOp, SameShape,
     .Input("a: float").Input("b: float").Output("y: float"));

template <bool>
class RowRangeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES(context, x.dim_size(1) > 0,
                Invalid("x must have columns, not 0"));
    Tensor* low = nullptr;
    Tensor* high = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {x.dim_size(0)}, &low));
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, {x.dim_size(0)}, &high));
    const auto in = x.matrix<float>();
    auto smallest = low->vec<float>();
    auto greatest = high->vec<float>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      float a = in(i, 0), b = in(i, 0);
      for (int64_t j = 1; j < in.dimension(1); ++j) {
        const float value = in(i, j);
        if (value < a || std::isnan(value)) a = value;
        if (value > b || std::isnan(value)) b = value;
      }
      smallest(i) = a;
      greatest(i) = b;
    }
  }
};

PAIR("RowRange", RowRangeOp, RowsShape,
     .Input("x: float").Output("low: float").Output("high: float"));

}  // namespace
}  // namespace op_by_op
