// Ops on records: RunLengthDecode, Adler, KmerCodes, NeighborSum, Drawdown.

#include "xc.h"

namespace xc {
namespace {

// ------------------------------------------------------------ RunLengthDecode
// Repeats values[i] counts[i] times.
absl::Status RunLengthShape(InferenceContext* context) {
  ShapeHandle values, counts, same;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 1, &values));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &counts));
  TF_RETURN_IF_ERROR(context->Merge(values, counts, &same));
  context->set_output(0, context->Vector(InferenceContext::kUnknownDim));
  return absl::OkStatus();
}

template <typename T, int V>
class RunLengthDecodeOp : public OpKernel {
 public:
  explicit RunLengthDecodeOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("max_length", &max_length_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const Tensor& counts = context->input(1);
    XC_REQUIRE(context, values.dims() == 1, "values must be a vector, but has ",
               values.dims(), " axes");
    XC_REQUIRE(context, counts.shape() == values.shape(),
               "counts must have the shape of values, ",
               values.shape().DebugString(), ", but has ",
               counts.shape().DebugString());
    const auto in = values.vec<T>();
    const auto runs = counts.vec<int64_t>();
    int64_t total = 0;
    for (int64_t i = 0; i < runs.size(); ++i) {
      if (V == 0) {
        XC_REQUIRE(context, runs(i) >= 0,
                   "counts must not be negative, but has ", runs(i));
      }
      XC_REQUIRE(context, runs(i) <= max_length_ - total,
                 "counts must add up to max_length, ", max_length_,
                 ", at most");
      total += runs(i);
    }
    XC_REQUIRE(context, total >= 0, "counts must not add up to ", total);
    Tensor* decoded = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {total}, &decoded));
    T* out = decoded->vec<T>().data();
    for (int64_t i = 0; i < runs.size(); ++i) {
      out = std::fill_n(out, runs(i), in(i));
    }
  }

 private:
  int64_t max_length_;
};

#define RUN_LENGTH(NAME, V)                                \
  REGISTER_OP(NAME)                                        \
      .Attr("T: {uint8, int32, int64, float, double}")     \
      .Attr("max_length: int >= 0 = 16777216")             \
      .Input("values: T")                                  \
      .Input("counts: int64")                              \
      .Output("decoded: T")                                \
      .SetShapeFn(RunLengthShape);                         \
  XC_KERNEL(NAME, uint8_t, RunLengthDecodeOp<uint8_t, V>); \
  XC_KERNEL(NAME, int32_t, RunLengthDecodeOp<int32_t, V>); \
  XC_KERNEL(NAME, int64_t, RunLengthDecodeOp<int64_t, V>); \
  XC_KERNEL(NAME, float, RunLengthDecodeOp<float, V>);     \
  XC_KERNEL(NAME, double, RunLengthDecodeOp<double, V>);

RUN_LENGTH("XcRunLengthDecodeGood", 0)
RUN_LENGTH("XcRunLengthDecodeBad", 1)

// ---------------------------------------------------------------------- Adler
// The Adler-32 checksum of every string.
template <int V>
class AdlerOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& text = context->input(0);
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, text.shape(), &sums));
    const auto in = text.flat<tstring>();
    auto out = sums->flat<int64_t>();
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = Adler(in(i).data(), in(i).size());
    }
  }

 private:
  static uint32_t Adler(const char* bytes, size_t size) {
    constexpr uint32_t kPrime = 65521;
    constexpr size_t kBlock = V == 0 ? 5552 : 16384;  // bytes between divisions
    uint32_t a = 1, b = 0;
    for (size_t begin = 0; begin < size; begin += kBlock) {
      const size_t end = std::min(size, begin + kBlock);
      for (size_t i = begin; i < end; ++i) {
        a += static_cast<unsigned char>(bytes[i]);
        b += a;
      }
      a %= kPrime;
      b %= kPrime;
    }
    return b << 16 | a;
  }
};

#define ADLER(NAME, V)                                               \
  REGISTER_OP(NAME)                                                  \
      .Input("text: string")                                         \
      .Output("sums: int64")                                         \
      .SetShapeFn([](InferenceContext* context) {                    \
        context->set_output(0, context->input(0));                   \
        return absl::OkStatus();                                     \
      });                                                            \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          AdlerOp<V>);

ADLER("XcAdlerGood", 0)
ADLER("XcAdlerBad", 1)

// ------------------------------------------------------------------ KmerCodes
// The codes of all k-mers of a DNA sequence: two bits a base, A C G T.
absl::Status KmerShape(InferenceContext* context) {
  ShapeHandle scalar;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &scalar));
  context->set_output(0, context->Vector(InferenceContext::kUnknownDim));
  return absl::OkStatus();
}

template <int V>
class KmerCodesOp : public OpKernel {
 public:
  explicit KmerCodesOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("k", &k_));
    XC_REQUIRE(context, k_ <= 31, "k must be at most 31, but is ", k_);
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& sequence = context->input(0);
    XC_REQUIRE(context, sequence.dims() == 0,
               "sequence must be a scalar, but has shape ",
               sequence.shape().DebugString());
    const tstring& bases = sequence.scalar<tstring>()();
    const int64_t size = bases.size();
    Tensor* codes = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(
                       0, {std::max<int64_t>(size - k_ + 1, 0)}, &codes));
    auto out = codes->vec<int64_t>();
    const int64_t mask = (int64_t{1} << (2 * k_)) - 1;
    int64_t code = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int base = Base(bases[i]);
      OP_REQUIRES(context, base >= 0, NoBase(i));
      code = (code << 2 | base) & mask;
      if (i + 1 >= k_) out(i + 1 - k_) = code;
    }
  }

 private:
  static int Base(char letter) {
    switch (letter) {
      case 'A':
      case 'a':
        return 0;
      case 'C':
      case 'c':
        return 1;
      case 'G':
      case 'g':
        return 2;
      case 'T':
      case 't':
        return 3;
      default:
        return -1;
    }
  }

  static absl::Status NoBase(int64_t place) {
    const std::string message = absl::StrCat(
        "sequence must have A, C, G and T only, but not at ", place);
    if (V == 0) return absl::InvalidArgumentError(message);
    return absl::OutOfRangeError(message);
  }

  int64_t k_;
};

#define KMER_CODES(NAME, V)                                          \
  REGISTER_OP(NAME)                                                  \
      .Attr("k: int >= 1 = 3")                                       \
      .Input("sequence: string")                                     \
      .Output("codes: int64")                                        \
      .SetShapeFn(KmerShape);                                        \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          KmerCodesOp<V>);

KMER_CODES("XcKmerCodesGood", 0)
KMER_CODES("XcKmerCodesBad", 1)

// ---------------------------------------------------------------- NeighborSum
// For every node of a graph, the sum of its neighbors' features. The neighbors
// of node i are neighbors[splits[i]] to neighbors[splits[i + 1] - 1].
absl::Status NeighborShape(InferenceContext* context) {
  ShapeHandle features, splits, neighbors;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &features));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &splits));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(2), 1, &neighbors));
  DimensionHandle nodes;
  TF_RETURN_IF_ERROR(context->Subtract(context->Dim(splits, 0), 1, &nodes));
  context->set_output(0, context->Matrix(nodes, context->Dim(features, 1)));
  return absl::OkStatus();
}

template <typename T, int V>
class NeighborSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& features = context->input(0);
    XC_REQUIRE(context, features.dims() == 2,
               "features must be a matrix, but has ", features.dims(), " axes");
    XC_REQUIRE(context, context->input(1).dims() == 1,
               "splits must be a vector, but has ", context->input(1).dims(),
               " axes");
    XC_REQUIRE(context, context->input(2).dims() == 1,
               "neighbors must be a vector, but has ", context->input(2).dims(),
               " axes");
    const auto splits = context->input(1).vec<int64_t>();
    const auto neighbors = context->input(2).vec<int64_t>();
    const int64_t rows = features.dim_size(0), width = features.dim_size(1);
    XC_REQUIRE(context, splits.size() >= 1, "splits must not be empty");
    XC_REQUIRE(context, splits(0) == 0, "splits must begin with 0, but with ",
               splits(0));
    for (int64_t i = 1; i < splits.size(); ++i) {
      XC_REQUIRE(context, splits(i) >= splits(i - 1),
                 "splits must not decrease, but do at ", i);
    }
    XC_REQUIRE(context, splits(splits.size() - 1) == neighbors.size(),
               "splits must end with the length of neighbors, ",
               neighbors.size(), ", but with ", splits(splits.size() - 1));
    for (int64_t i = 0; i < neighbors.size(); ++i) {
      const bool outside =
          neighbors(i) < 0 || neighbors(i) > (V == 0 ? rows - 1 : rows);
      XC_REQUIRE(context, !outside, "neighbors must be nodes of features, of ",
                 rows, ", but has ", neighbors(i));
    }
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, {splits.size() - 1, width}, &sums));
    if (sums->NumElements() == 0) return;
    const ScopedDontFlushDenormal keep;
    const T* in = features.flat<T>().data();
    auto out = sums->matrix<T>();
    std::vector<double> sum(width);
    for (int64_t node = 0; node + 1 < splits.size(); ++node) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int64_t e = splits(node); e < splits(node + 1); ++e) {
        const T* feature = in + neighbors(e) * width;
        for (int64_t j = 0; j < width; ++j) sum[j] += feature[j];
      }
      for (int64_t j = 0; j < width; ++j) out(node, j) = static_cast<T>(sum[j]);
    }
  }
};

#define NEIGHBOR_SUM(NAME, V)                      \
  REGISTER_OP(NAME)                                \
      .Attr("T: {float, double}")                  \
      .Input("features: T")                        \
      .Input("splits: int64")                      \
      .Input("neighbors: int64")                   \
      .Output("sums: T")                           \
      .SetShapeFn(NeighborShape);                  \
  XC_KERNEL(NAME, float, NeighborSumOp<float, V>); \
  XC_KERNEL(NAME, double, NeighborSumOp<double, V>);

NEIGHBOR_SUM("XcNeighborSumGood", 0)
NEIGHBOR_SUM("XcNeighborSumBad", 1)

// ------------------------------------------------------------------- Drawdown
// How far each price is below the highest before it: 1 - price / highest.
absl::Status DrawdownShape(InferenceContext* context) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  int64_t axis;
  TF_RETURN_IF_ERROR(context->GetAttr("axis", &axis));
  if (context->RankKnown(shape)) {
    const int64_t rank = context->Rank(shape);
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis must be an axis of prices, of ", rank, ", but is ", axis));
    }
  }
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T, int V>
class DrawdownOp : public OpKernel {
 public:
  explicit DrawdownOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("axis", &axis_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& prices = context->input(0);
    const int64_t rank = prices.dims();
    XC_REQUIRE(context, rank >= 1,
               "prices must have at least one axis, but is a scalar");
    XC_REQUIRE(context, axis_ >= -rank && axis_ < rank,
               "axis must be an axis of prices, of ", rank, ", but is ", axis_);
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
    Tensor* drawdown = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, prices.shape(), &drawdown));
    if (prices.NumElements() == 0) return;
    const ScopedDontFlushDenormal keep;
    const T* in = prices.flat<T>().data();
    T* out = drawdown->flat<T>().data();
    for (int64_t i = 0; i < prices.NumElements(); ++i) {
      XC_REQUIRE(context, !(in[i] <= 0), "prices must be positive, but has ",
                 in[i]);
    }
    const int64_t length = prices.dim_size(axis);
    int64_t stride = 1;
    if (V == 0) {
      for (int i = axis + 1; i < rank; ++i) stride *= prices.dim_size(i);
    } else if (axis + 1 < rank) {
      stride = prices.dim_size(axis + 1);
    }
    const int64_t lines = prices.NumElements() / length;
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t first = line / stride * stride * length + line % stride;
      T highest = in[first];
      for (int64_t k = 0; k < length; ++k) {
        const T price = in[first + k * stride];
        if (!(price <= highest))
          highest = std::isnan(highest) ? highest : price;
        out[first + k * stride] = 1 - price / highest;
      }
    }
  }

 private:
  int64_t axis_;
};

#define DRAWDOWN(NAME, V)                       \
  REGISTER_OP(NAME)                             \
      .Attr("T: {float, double}")               \
      .Attr("axis: int = -1")                   \
      .Input("prices: T")                       \
      .Output("drawdown: T")                    \
      .SetShapeFn(DrawdownShape);               \
  XC_KERNEL(NAME, float, DrawdownOp<float, V>); \
  XC_KERNEL(NAME, double, DrawdownOp<double, V>);

DRAWDOWN("XcDrawdownGood", 0)
DRAWDOWN("XcDrawdownBad", 1)

}  // namespace
}  // namespace xc
