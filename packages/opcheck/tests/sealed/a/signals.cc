// Ops on signals: PreEmphasis, GaussianTaper, LeGall53, Standardize, Crossings.

#include <mutex>

#include "tensorflow/core/util/work_sharder.h"
#include "xc.h"

namespace xc {
namespace {

// The shape of a signal: any number of axes, but at least one.
absl::Status SameShape(InferenceContext* context) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

// ---------------------------------------------------------------- PreEmphasis
// y[i] = x[i] - coefficient * x[i - 1], along the last axis; y[0] = x[0].
template <typename T, int V>
class PreEmphasisOp : public OpKernel {
 public:
  explicit PreEmphasisOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("coefficient", &coefficient_));
    XC_REQUIRE(context, std::isfinite(coefficient_),
               "coefficient must be finite, but is ", coefficient_);
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    XC_REQUIRE(context, x.dims() >= 1,
               "x must have at least one axis, but is a scalar");
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, x.shape(), &y));
    const int64_t length = x.dim_size(x.dims() - 1);
    if (x.NumElements() == 0) return;
    const ScopedDontFlushDenormal keep;
    const T* in = x.flat<T>().data();
    T* out = y->flat<T>().data();
    const T c = static_cast<T>(coefficient_);
    const int64_t rows = x.NumElements() / length;
    for (int64_t row = 0; row < rows; ++row, in += length, out += length) {
      if (V == 0) {
        for (int64_t i = length - 1; i > 0; --i) out[i] = in[i] - c * in[i - 1];
        out[0] = in[0];
      } else {
        out[0] = in[0];
        for (int64_t i = 1; i < length; ++i) out[i] = in[i] - c * in[i - 1];
      }
    }
  }

 private:
  float coefficient_;
};

#define PRE_EMPHASIS(NAME, V)                      \
  REGISTER_OP(NAME)                                \
      .Attr("T: {float, double}")                  \
      .Attr("coefficient: float = 0.96875")        \
      .Input("x: T")                               \
      .Output("y: T")                              \
      .SetShapeFn(SameShape);                      \
  XC_KERNEL(NAME, float, PreEmphasisOp<float, V>); \
  XC_KERNEL(NAME, double, PreEmphasisOp<double, V>);

PRE_EMPHASIS("XcPreEmphasisGood", 0)
PRE_EMPHASIS("XcPreEmphasisBad", 1)

// -------------------------------------------------------------- GaussianTaper
// Multiplies by exp(-u^2 / 2), u from -1 / sigma to 1 / sigma over the row.
absl::Status TaperShape(InferenceContext* context) {
  ShapeHandle scalar;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 0, &scalar));
  return SameShape(context);
}

template <typename T, int V>
class GaussianTaperOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const ScopedDontFlushDenormal keep;
    const Tensor& x = context->input(0);
    XC_REQUIRE(context, x.dims() >= 1,
               "x must have at least one axis, but is a scalar");
    XC_REQUIRE(context, context->input(1).dims() == 0,
               "sigma must be a scalar, but has shape ",
               context->input(1).shape().DebugString());
    const T sigma = context->input(1).scalar<T>()();
    XC_REQUIRE(context, std::isfinite(sigma) && sigma > 0,
               "sigma must be positive and finite, but is ", sigma);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    const auto window = Window(x.dim_size(x.dims() - 1), sigma);
    const auto in = x.flat_inner_dims<T>();
    auto out = y->flat_inner_dims<T>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      for (int64_t i = 0; i < in.dimension(1); ++i) {
        out(row, i) = in(row, i) * (*window)[i];
      }
    }
  }

 private:
  // The window is kept, as most calls ask for that of the call before.
  std::shared_ptr<const std::vector<T>> Window(int64_t length, T sigma) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool fits = window_ && static_cast<int64_t>(window_->size()) == length;
    if (V == 0) fits = fits && sigma_ == sigma;
    if (fits) return window_;
    auto window = std::make_shared<std::vector<T>>(length);
    const double middle = (length - 1) / 2.0;
    for (int64_t i = 0; i < length; ++i) {
      const double u = middle > 0 ? (i - middle) / middle / sigma : 0;
      (*window)[i] = static_cast<T>(std::exp(-u * u / 2));
    }
    window_ = window;
    sigma_ = sigma;
    return window_;
  }

  std::mutex mutex_;
  std::shared_ptr<const std::vector<T>> window_;
  T sigma_ = 0;
};

#define GAUSSIAN_TAPER(NAME, V)                      \
  REGISTER_OP(NAME)                                  \
      .Attr("T: {float, double}")                    \
      .Input("x: T")                                 \
      .Input("sigma: T")                             \
      .Output("y: T")                                \
      .SetShapeFn(TaperShape);                       \
  XC_KERNEL(NAME, float, GaussianTaperOp<float, V>); \
  XC_KERNEL(NAME, double, GaussianTaperOp<double, V>);

GAUSSIAN_TAPER("XcGaussianTaperGood", 0)
GAUSSIAN_TAPER("XcGaussianTaperBad", 1)

// ------------------------------------------------------------------- LeGall53
// One step of the reversible 5/3 wavelet, along the last axis.
absl::Status LeGallShape(InferenceContext* context) {
  ShapeHandle shape, approx, detail;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  if (!context->RankKnown(shape)) {
    context->set_output(0, context->UnknownShape());
    context->set_output(1, context->UnknownShape());
    return absl::OkStatus();
  }
  DimensionHandle even = context->UnknownDim(), odd = context->UnknownDim();
  const DimensionHandle length = context->Dim(shape, -1);
  if (context->ValueKnown(length)) {
    even = context->MakeDim((context->Value(length) + 1) / 2);
    odd = context->MakeDim(context->Value(length) / 2);
  }
  TF_RETURN_IF_ERROR(context->ReplaceDim(shape, -1, even, &approx));
  TF_RETURN_IF_ERROR(context->ReplaceDim(shape, -1, odd, &detail));
  context->set_output(0, approx);
  context->set_output(1, detail);
  return absl::OkStatus();
}

template <int V>
class LeGallOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    constexpr int32_t kLargest = 1 << 29;  // all sums fit in 32 bits
    const Tensor& x = context->input(0);
    XC_REQUIRE(context, x.dims() >= 1,
               "x must have at least one axis, but is a scalar");
    const int64_t length = x.dim_size(x.dims() - 1);
    const int64_t evens = (length + 1) / 2, odds = length / 2;
    TensorShape shape = x.shape();
    Tensor *approx = nullptr, *detail = nullptr;
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(x.dims() - 1, evens));
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &approx));
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(x.dims() - 1, odds));
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &detail));
    if (x.NumElements() == 0) return;
    const int32_t* in = x.flat<int32_t>().data();
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      XC_REQUIRE(context, in[i] >= -kLargest && in[i] <= kLargest,
                 "x must be from -2^29 to 2^29, but has ", in[i]);
    }
    int32_t* s = approx->flat<int32_t>().data();
    int32_t* d = detail->flat<int32_t>().data();
    const int64_t rows = x.NumElements() / length;
    for (int64_t row = 0; row < rows; ++row) {
      Row(in + row * length, length, s + row * evens, d + row * odds);
    }
  }

 private:
  static void Row(const int32_t* x, int64_t length, int32_t* s, int32_t* d) {
    const int64_t evens = (length + 1) / 2, odds = length / 2;
    if (odds == 0) {
      s[0] = x[0];
      return;
    }
    for (int64_t i = 0; i < odds; ++i) {
      const int32_t right = 2 * i + 2 < length ? x[2 * i + 2] : x[2 * i];
      d[i] = x[2 * i + 1] - ((x[2 * i] + right) >> 1);
    }
    const int32_t beyond = V == 0 ? d[odds - 1] : 0;
    for (int64_t i = 0; i < evens; ++i) {
      const int64_t left = d[i > 0 ? i - 1 : 0];
      const int64_t right = i < odds ? d[i] : beyond;
      s[i] = x[2 * i] + static_cast<int32_t>((left + right + 2) >> 2);
    }
  }
};

#define LE_GALL(NAME, V)                                             \
  REGISTER_OP(NAME)                                                  \
      .Input("x: int32")                                             \
      .Output("approx: int32")                                       \
      .Output("detail: int32")                                       \
      .SetShapeFn(LeGallShape);                                      \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          LeGallOp<V>);

LE_GALL("XcLeGallGood", 0)
LE_GALL("XcLeGallBad", 1)

// ---------------------------------------------------------------- Standardize
// z = (x - mean) / scale, scale = sqrt(variance + epsilon), along the last
// axis.
absl::Status StandardizeShape(InferenceContext* context) {
  ShapeHandle shape, rows;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  context->set_output(0, shape);
  if (!context->RankKnown(shape)) {
    context->set_output(1, context->UnknownShape());
    return absl::OkStatus();
  }
  TF_RETURN_IF_ERROR(context->Subshape(shape, 0, -1, &rows));
  context->set_output(1, rows);
  return absl::OkStatus();
}

template <typename T>
class StandardizeOp : public OpKernel {
 public:
  explicit StandardizeOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("epsilon", &epsilon_));
    XC_REQUIRE(context, std::isfinite(epsilon_) && epsilon_ > 0,
               "epsilon must be positive and finite, but is ", epsilon_);
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    XC_REQUIRE(context, x.dims() >= 1,
               "x must have at least one axis, but is a scalar");
    const int64_t length = x.dim_size(x.dims() - 1);
    XC_REQUIRE(context, length >= 1,
               "x must have at least one element along its last axis");
    Tensor *z = nullptr, *scale = nullptr;
    TensorShape rows = x.shape();
    rows.RemoveLastDims(1);
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &z));
    OP_REQUIRES_OK(context, context->allocate_output(1, rows, &scale));
    if (x.NumElements() == 0) return;
    const ScopedDontFlushDenormal keep;
    const auto in = x.flat_inner_dims<T>();
    auto out = z->flat_inner_dims<T>();
    auto scales = scale->flat<T>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      double mean = 0, largest = 0, squares = 0;
      for (int64_t i = 0; i < length; ++i) mean += in(row, i) / double(length);
      double rest = 0;  // what rounding has left out of the mean
      for (int64_t i = 0; i < length; ++i) {
        rest += (in(row, i) - mean) / double(length);
      }
      mean += rest;
      for (int64_t i = 0; i < length; ++i) {
        const double distance = std::abs(in(row, i) - mean);
        if (!(distance <= largest)) largest = distance;
      }
      if (largest > 0) {
        for (int64_t i = 0; i < length; ++i) {
          const double part = (in(row, i) - mean) / largest;
          squares += part * part;
        }
      }
      double deviation = largest * std::sqrt(squares / length);
      if (std::isnan(mean)) deviation = mean;
      const double divisor = std::hypot(deviation, std::sqrt(double(epsilon_)));
      for (int64_t i = 0; i < length; ++i) {
        out(row, i) = static_cast<T>((in(row, i) - mean) / divisor);
      }
      scales(row) = static_cast<T>(divisor);
    }
  }

 private:
  float epsilon_;
};

#define STANDARDIZE(NAME)                       \
  REGISTER_OP(NAME)                             \
      .Attr("T: {float, double}")               \
      .Attr("epsilon: float = 1e-6")            \
      .Input("x: T")                            \
      .Output("z: T")                           \
      .Output("scale: T")                       \
      .SetShapeFn(StandardizeShape);            \
  XC_KERNEL(NAME, float, StandardizeOp<float>); \
  XC_KERNEL(NAME, double, StandardizeOp<double>);

STANDARDIZE("XcStandardizeGood")
STANDARDIZE("XcStandardizeBad")

// ------------------------------------------------------------------ Crossings
// How often the sign changes along the last axis; 0 and NaN are not negative.
absl::Status CrossingsShape(InferenceContext* context) {
  ShapeHandle shape, rows;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  if (!context->RankKnown(shape)) {
    context->set_output(0, context->UnknownShape());
    return absl::OkStatus();
  }
  TF_RETURN_IF_ERROR(context->Subshape(shape, 0, -1, &rows));
  context->set_output(0, rows);
  return absl::OkStatus();
}

template <typename T, int V>
class CrossingsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    XC_REQUIRE(context, x.dims() >= 1,
               "x must have at least one axis, but is a scalar");
    TensorShape shape = x.shape();
    shape.RemoveLastDims(1);
    Tensor* crossings = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &crossings));
    auto out = crossings->flat<int64_t>();
    const int64_t length = x.dim_size(x.dims() - 1);
    const T* in = x.flat<T>().data();
    std::vector<std::atomic<int64_t>> counts(out.size());
    for (auto& count : counts) count = 0;
    auto work = [in, length, &counts](int64_t begin, int64_t end) {
      const ScopedDontFlushDenormal keep;
      const int64_t first = V == 0 && begin % length != 0 ? begin - 1 : begin;
      bool last = in[first] < 0;
      for (int64_t i = begin; i < end; ++i) {
        const bool now = in[i] < 0;
        if (i % length != 0 && now != last) ++counts[i / length];
        last = now;
      }
    };
    if (x.NumElements() > 0) {
      const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
      tensorflow::Shard(workers.num_threads, workers.workers, x.NumElements(),
                        /*cost_per_unit=*/20, work);
    }
    for (int64_t row = 0; row < out.size(); ++row) out(row) = counts[row];
  }
};

#define CROSSINGS(NAME, V)                       \
  REGISTER_OP(NAME)                              \
      .Attr("T: {float, double}")                \
      .Input("x: T")                             \
      .Output("crossings: int64")                \
      .SetShapeFn(CrossingsShape);               \
  XC_KERNEL(NAME, float, CrossingsOp<float, V>); \
  XC_KERNEL(NAME, double, CrossingsOp<double, V>);

CROSSINGS("XcCrossingsGood", 0)
CROSSINGS("XcCrossingsBad", 1)

}  // namespace
}  // namespace xc
