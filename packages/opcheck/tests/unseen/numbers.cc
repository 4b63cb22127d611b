// Ops whose bug is in the values.

#include "pair.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

template <bool bug>
class ChannelBiasOp : public OpKernel {
 public:
  explicit ChannelBiasOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("data_format", &format_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& bias = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 4));
    OP_REQUIRES_OK(context, HasRank(bias, "bias", 1));
    const bool last = format_ == "NHWC";
    const int64_t channels = x.dim_size(last ? 3 : 1);
    OP_REQUIRES(context, bias.dim_size(0) == channels,
                Invalid("bias must have one element for each of the ", channels,
                        " channels, not ", bias.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    int64_t inner = 1;
    if (!last) inner = bug ? x.dim_size(3) : x.dim_size(2) * x.dim_size(3);
    const auto in = x.flat<float>();
    const auto b = bias.vec<float>();
    auto out = y->flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = in(i) + b(i / inner % channels);
    }
  }

 private:
  std::string format_;
};

template <bool>
absl::Status ChannelBiasShape(InferenceContext* c) {
  ShapeHandle x, bias;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 4, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "bias", 1, &bias));
  c->set_output(0, x);
  return absl::OkStatus();
}

PAIR("ChannelBias", ChannelBiasOp, ChannelBiasShape,
     .Input("x: float")
         .Input("bias: float")
         .Output("y: float")
         .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'"));

template <bool bug>
class PairMaxRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t rows = x.dim_size(0);
    const int64_t pooled = bug ? rows / 2 : (rows + 1) / 2;
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {pooled, x.dim_size(1)}, &y));
    const auto in = x.matrix<float>();
    auto out = y->matrix<float>();
    for (int64_t i = 0; i < pooled; ++i) {
      for (int64_t j = 0; j < in.dimension(1); ++j) {
        const float a = in(2 * i, j);
        const float b = 2 * i + 1 < rows ? in(2 * i + 1, j) : a;
        out(i, j) = b > a || std::isnan(b) ? b : a;
      }
    }
  }
};

template <bool bug>
absl::Status PairMaxRowsShape(InferenceContext* c) {
  ShapeHandle x, y;
  DimensionHandle rows;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(c->Add(c->Dim(x, 0), bug ? 0 : 1, &rows));
  TF_RETURN_IF_ERROR(c->Divide(rows, 2, /*evenly_divisible=*/false, &rows));
  TF_RETURN_IF_ERROR(c->ReplaceDim(x, 0, rows, &y));
  c->set_output(0, y);
  return absl::OkStatus();
}

PAIR("PairMaxRows", PairMaxRowsOp, PairMaxRowsShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class RavelIndexOp : public OpKernel {
 public:
  explicit RavelIndexOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("width", &width_));
    OP_REQUIRES(c, width_ > 0 && width_ < int64_t{1} << 31,
                Invalid("width must be in [1, 2**31), not ", width_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& rows = context->input(0);
    const Tensor& columns = context->input(1);
    OP_REQUIRES_OK(context, HasRank(rows, "rows", 1));
    OP_REQUIRES_OK(context, HasRank(columns, "columns", 1));
    OP_REQUIRES(context, rows.shape() == columns.shape(),
                Invalid("rows and columns must have one size, not ",
                        rows.dim_size(0), " and ", columns.dim_size(0)));
    Tensor* flat = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, rows.shape(), &flat));
    const auto row = rows.vec<int32_t>();
    const auto column = columns.vec<int32_t>();
    auto out = flat->vec<int64_t>();
    for (int64_t i = 0; i < row.size(); ++i) {
      if constexpr (bug) {
        const auto width = static_cast<int32_t>(width_);
        out(i) = row(i) * width + column(i);
      } else {
        out(i) = row(i) * width_ + column(i);
      }
    }
  }

 private:
  int64_t width_;
};

template <bool>
absl::Status RavelIndexShape(InferenceContext* c) {
  ShapeHandle rows, columns, both;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "rows", 1, &rows));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "columns", 1, &columns));
  if (!c->Merge(rows, columns, &both).ok()) {
    return Invalid("rows and columns must have one size");
  }
  c->set_output(0, both);
  return absl::OkStatus();
}

PAIR("RavelIndex", RavelIndexOp, RavelIndexShape,
     .Input("rows: int32")
         .Input("columns: int32")
         .Output("flat: int64")
         .Attr("width: int"));

template <bool bug>
class DenseFromPairsOp : public OpKernel {
 public:
  explicit DenseFromPairsOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("height", &height_));
    OP_REQUIRES_OK(c, c->GetAttr("width", &width_));
    OP_REQUIRES(c, height_ <= 4096 && width_ <= 4096,
                Invalid("height and width must be at most 4096, not ", height_,
                        " and ", width_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& pairs = context->input(0);
    const Tensor& values = context->input(1);
    OP_REQUIRES_OK(context, HasRank(pairs, "pairs", 2));
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    const int64_t count = values.dim_size(0);
    OP_REQUIRES(context, pairs.dim_size(0) == count && pairs.dim_size(1) == 2,
                Invalid("pairs must have the shape [", count, ", 2], not ",
                        pairs.shape().DebugString()));
    Tensor* dense = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {height_, width_}, &dense));
    auto out = dense->matrix<float>();
    if constexpr (!bug) std::fill_n(out.data(), out.size(), 0.0f);
    const auto at = pairs.matrix<int64_t>();
    const auto value = values.vec<float>();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = at(i, 0), column = at(i, 1);
      OP_REQUIRES(context,
                  row >= 0 && row < height_ && column >= 0 && column < width_,
                  Invalid("pairs[", i, "] is (", row, ", ", column,
                          "), outside of [", height_, ", ", width_, "]"));
      out(row, column) = value(i);
    }
  }

 private:
  int64_t height_;
  int64_t width_;
};

template <bool>
absl::Status DenseFromPairsShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "pairs", 2, &unused));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "values", 1, &unused));
  int64_t height, width;
  TF_RETURN_IF_ERROR(c->GetAttr("height", &height));
  TF_RETURN_IF_ERROR(c->GetAttr("width", &width));
  c->set_output(0, c->Matrix(height, width));
  return absl::OkStatus();
}

PAIR("DenseFromPairs", DenseFromPairsOp, DenseFromPairsShape,
     .Input("pairs: int64")
         .Input("values: float")
         .Output("dense: float")
         .Attr("height: int >= 0")
         .Attr("width: int >= 0"));

template <bool bug>
class AbsSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &sum));
    const float* in = x.flat<float>().data();
    const int64_t size = x.NumElements();
    constexpr int64_t kBlock = 256;
    const int64_t blocks = (size + kBlock - 1) / kBlock;
    std::vector<double> sums(bug ? 1 : blocks);
    const auto& threads = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(threads.num_threads, threads.workers, blocks, kBlock * 50,
                      [&](int64_t first, int64_t last) {
                        for (int64_t b = first; b < last; ++b) {
                          const int64_t end = std::min(size, (b + 1) * kBlock);
                          double& total = sums[bug ? 0 : b];
                          for (int64_t i = b * kBlock; i < end; ++i) {
                            total += std::abs(in[i]);
                          }
                        }
                      });
    double total = 0;
    for (const double part : sums) total += part;
    sum->scalar<float>()() = static_cast<float>(total);
  }
};

PAIR("AbsSum", AbsSumOp, Scalar, .Input("x: float").Output("sum: float"));

template <bool bug>
class RmsScaleOp : public OpKernel {
 public:
  explicit RmsScaleOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES(c, epsilon_ > 0,
                Invalid("epsilon must be positive, not ", epsilon_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& scale = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(scale, "scale", 1));
    const int64_t depth = x.dim_size(1);
    OP_REQUIRES(context, scale.dim_size(0) == depth,
                Invalid("scale must have ", depth, " elements, not ",
                        scale.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.matrix<float>();
    const auto factor = scale.vec<float>();
    auto out = y->matrix<float>();
    const double epsilon = bug ? 1e-6 : epsilon_;
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      double squares = 0;
      for (int64_t j = 0; j < depth; ++j) {
        squares += static_cast<double>(in(i, j)) * in(i, j);
      }
      const double root =
          std::sqrt(squares / static_cast<double>(depth) + epsilon);
      for (int64_t j = 0; j < depth; ++j) {
        out(i, j) = static_cast<float>(in(i, j) / root * factor(j));
      }
    }
  }

 private:
  float epsilon_;
};

template <bool>
absl::Status RmsScaleShape(InferenceContext* c) {
  ShapeHandle x, scale;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "scale", 1, &scale));
  c->set_output(0, x);
  return absl::OkStatus();
}

PAIR("RmsScale", RmsScaleOp, RmsScaleShape,
     .Input("x: float")
         .Input("scale: float")
         .Output("y: float")
         .Attr("epsilon: float = 1e-6"));

template <bool bug>
class RunningMaxOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.vec<float>();
    auto out = y->vec<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      float top = i > 0 ? out(i - 1) : in(0);
      if (in(i) > top || (!bug && std::isnan(in(i)))) top = in(i);
      out(i) = top;
    }
  }
};

template <bool>
absl::Status VectorShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &x));
  c->set_output(0, x);
  return absl::OkStatus();
}

PAIR("RunningMax", RunningMaxOp, VectorShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class IdBucketOp : public OpKernel {
 public:
  explicit IdBucketOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("width", &width_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& ids = context->input(0);
    Tensor* buckets = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, ids.shape(), &buckets));
    const auto id = ids.flat<int64_t>();
    auto out = buckets->flat<int64_t>();
    for (int64_t i = 0; i < id.size(); ++i) {
      if constexpr (bug) {
        out(i) = static_cast<int64_t>(std::floor(static_cast<double>(id(i)) /
                                                 static_cast<double>(width_)));
      } else {
        out(i) = id(i) / width_ - (id(i) % width_ < 0 ? 1 : 0);
      }
    }
  }

 private:
  int64_t width_;
};

PAIR(
    "IdBucket", IdBucketOp, FirstShape,
    .Input("ids: int64").Output("buckets: int64").Attr("width: int >= 1 = 10"));

template <bool bug>
class ScaleColumnsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& scale = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(scale, "scale", 1));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, scale.dim_size(0) == 1 || scale.dim_size(0) == columns,
                Invalid("scale must have 1 or ", columns, " elements, not ",
                        scale.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const float* in = x.flat<float>().data();
    const float* factor = scale.flat<float>().data();
    float* out = y->flat<float>().data();
    const bool single = !bug && scale.dim_size(0) == 1;
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      out[i] = in[i] * factor[single ? 0 : i % columns];
    }
  }
};

PAIR("ScaleColumns", ScaleColumnsOp, RmsScaleShape,
     .Input("x: float").Input("scale: float").Output("y: float"));

template <bool bug>
class JoinTokensOp : public OpKernel {
 public:
  explicit JoinTokensOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("separator", &separator_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& tokens = context->input(0);
    OP_REQUIRES_OK(context, HasRank(tokens, "tokens", 1));
    Tensor* joined = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &joined));
    const auto token = tokens.vec<tstring>();
    std::string text;
    for (int64_t i = 0; i < token.size(); ++i) {
      if (i > 0) text += separator_;
      if constexpr (bug) {
        text += token(i).c_str();
      } else {
        text.append(token(i).data(), token(i).size());
      }
    }
    joined->scalar<tstring>()() = text;
  }

 private:
  std::string separator_;
};

template <bool>
absl::Status JoinTokensShape(InferenceContext* c) {
  ShapeHandle tokens;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "tokens", 1, &tokens));
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

PAIR("JoinTokens", JoinTokensOp, JoinTokensShape,
     .Input("tokens: string")
         .Output("joined: string")
         .Attr("separator: string = ','"));

template <typename T, bool bug>
class AverageRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, columns > 0, Invalid("x must have a column"));
    Tensor* means = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(0)}, &means));
    using Sum = std::conditional_t<bug, T, double>;
    const auto in = x.matrix<T>();
    auto out = means->vec<T>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      Sum sum{0};
      for (int64_t j = 0; j < columns; ++j) sum += static_cast<Sum>(in(i, j));
      out(i) = static_cast<T>(sum / static_cast<Sum>(columns));
    }
  }
};

template <bool>
absl::Status AverageRowsShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  c->set_output(0, c->Vector(c->Dim(x, 0)));
  return absl::OkStatus();
}

OP_PAIR("AverageRows", AverageRowsShape,
        .Attr("T: {half, float}").Input("x: T").Output("means: T"));
KERNEL_PAIR("AverageRows", float, AverageRowsOp);
KERNEL_PAIR("AverageRows", Eigen::half, AverageRowsOp);

template <bool bug>
class CountIdsOp : public OpKernel {
 public:
  explicit CountIdsOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("size", &size_));
    OP_REQUIRES(c, size_ <= 1 << 20,
                Invalid("size must be at most 2**20, not ", size_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& ids = context->input(0);
    OP_REQUIRES_OK(context, HasRank(ids, "ids", 1));
    Tensor* counts = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {size_}, &counts));
    const auto id = ids.vec<int32_t>();
    int64_t* out = counts->vec<int64_t>().data();
    std::fill_n(out, size_, 0);
    for (int64_t i = 0; i < id.size(); ++i) {
      if constexpr (!bug) {
        OP_REQUIRES(context, id(i) >= 0 && id(i) < size_,
                    Invalid("ids must be in [0, ", size_, "), but ids[", i,
                            "] is ", id(i)));
      }
      ++out[id(i)];
    }
  }

 private:
  int64_t size_;
};

template <bool>
absl::Status CountIdsShape(InferenceContext* c) {
  ShapeHandle ids;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "ids", 1, &ids));
  int64_t size;
  TF_RETURN_IF_ERROR(c->GetAttr("size", &size));
  c->set_output(0, c->Vector(size));
  return absl::OkStatus();
}

PAIR("CountIds", CountIdsOp, CountIdsShape,
     .Input("ids: int32").Output("counts: int64").Attr("size: int >= 0"));

template <bool bug>
class SampleGridOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& image = context->input(0);
    const Tensor& points = context->input(1);
    OP_REQUIRES_OK(context, HasRank(image, "image", 2));
    OP_REQUIRES_OK(context, HasRank(points, "points", 2));
    OP_REQUIRES(
        context, points.dim_size(1) == 2,
        Invalid("points must have 2 columns, not ", points.dim_size(1)));
    const int64_t height = image.dim_size(0), width = image.dim_size(1);
    Tensor* samples = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {points.dim_size(0)}, &samples));
    const float* pixels = image.flat<float>().data();
    const auto at = points.matrix<int32_t>();
    auto out = samples->vec<float>();
    for (int64_t i = 0; i < at.dimension(0); ++i) {
      const int64_t y = at(i, 0), x = at(i, 1);
      OP_REQUIRES(context,
                  y < height && x < width && (bug || (y >= 0 && x >= 0)),
                  Invalid("points[", i, "] is (", y, ", ", x,
                          "), outside of an image of ", height, " x ", width));
      out(i) = pixels[y * width + x];
    }
  }
};

template <bool>
absl::Status SampleGridShape(InferenceContext* c) {
  ShapeHandle image, points;
  DimensionHandle two;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "image", 2, &image));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "points", 2, &points));
  if (!c->WithValue(c->Dim(points, 1), 2, &two).ok()) {
    return Invalid("points must have 2 columns");
  }
  c->set_output(0, c->Vector(c->Dim(points, 0)));
  return absl::OkStatus();
}

PAIR("SampleGrid", SampleGridOp, SampleGridShape,
     .Input("image: float").Input("points: int32").Output("samples: float"));

}  // namespace
}  // namespace op_by_op
