// XdDtw: dynamic time warping. XdSeasonalDiff: changes since a period ago.
// XdTrimmedMean: the mean without the extremes.

#include "common.h"

namespace xd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

absl::Status CheckHasSteps(const char* name, int64_t steps) {
  if (steps > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must have at least one step, but has none"));
}

absl::Status DtwShape(InferenceContext* context) {
  ShapeHandle left;
  ShapeHandle right;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &left));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &right));
  const DimensionHandle n = context->Dim(left, 1);
  const DimensionHandle m = context->Dim(right, 1);
  if (context->ValueKnown(n)) {
    TF_RETURN_IF_ERROR(CheckHasSteps("left", context->Value(n)));
  }
  if (context->ValueKnown(m)) {
    TF_RETURN_IF_ERROR(CheckHasSteps("right", context->Value(m)));
  }
  DimensionHandle batch;
  TF_RETURN_IF_ERROR(
      context->Merge(context->Dim(left, 0), context->Dim(right, 0), &batch));
  context->set_output(0, context->Vector(batch));
  return absl::OkStatus();
}

// The least of the three; NaN if one is NaN.
double Least(double a, double b, double c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return std::nan("");
  return std::min(a, std::min(b, c));
}

template <typename T, int kForm>
class DtwOp : public OpKernel {
 public:
  explicit DtwOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("band", &band_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& left = context->input(0);
    const Tensor& right = context->input(1);
    OP_REQUIRES(context, left.dims() == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("left must have 2 axes, but has the shape ",
                                 left.shape().DebugString())));
    OP_REQUIRES(context, right.dims() == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("right must have 2 axes, but has the shape ",
                                 right.shape().DebugString())));
    OP_REQUIRES(context, left.dim_size(0) == right.dim_size(0),
                absl::InvalidArgumentError(absl::StrCat(
                    "right must have as many rows as left, ", left.dim_size(0),
                    ", but has ", right.dim_size(0))));
    OP_REQUIRES_OK(context, CheckHasSteps("left", left.dim_size(1)));
    OP_REQUIRES_OK(context, CheckHasSteps("right", right.dim_size(1)));
    Tensor* distance = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {left.dim_size(0)}, &distance));
    const KeepSubnormals keep;
    const auto a = left.matrix<T>();
    const auto b = right.matrix<T>();
    auto out = distance->vec<T>();
    for (int64_t row = 0; row < out.size(); ++row) {
      out(row) = static_cast<T>(
          Distance(&a(row, 0), a.dimension(1), &b(row, 0), b.dimension(1)));
    }
  }

 private:
  double Distance(const T* a, int64_t n, const T* b, int64_t m) const {
    int64_t band = std::max(n, m);
    if (band_ >= 0) {
      band = std::min(band, std::max<int64_t>(band_, std::abs(n - m)));
    }
    std::vector<double> before(m + 1, kInfinity);
    std::vector<double> now(m + 1, kInfinity);
    before[0] = 0;
    for (int64_t i = 1; i <= n; ++i) {
      const int64_t first = std::max<int64_t>(1, i - band);
      const int64_t last = std::min(m, i + band);
      Clear(&now);
      for (int64_t j = first; j <= last; ++j) {
        const double cost = std::abs(static_cast<double>(a[i - 1]) - b[j - 1]);
        now[j] = cost + Least(before[j], before[j - 1], now[j - 1]);
      }
      std::swap(before, now);
    }
    return before[m];
  }

  // Nothing leads here yet.
  static void Clear(std::vector<double>* costs) {
    if constexpr (kForm == 1) {
      (*costs)[0] = kInfinity;
    } else {
      std::fill(costs->begin(), costs->end(), kInfinity);
    }
  }

  int64_t band_;
};

#define XD_DTW(NAME, FORM)                                       \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("band: int >= -1 = -1")                              \
      .Input("left: T")                                          \
      .Input("right: T")                                         \
      .Output("distance: T")                                     \
      .SetShapeFn(DtwShape);                                     \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      DtwOp<float, FORM>);                                       \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      DtwOp<double, FORM>)

XD_DTW("XdDtwBad", 1);
XD_DTW("XdDtwGood", 2);

absl::Status CheckPeriod(int64_t period, int64_t steps) {
  if (period <= steps) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("series must have at least as many steps as period, ",
                   period, ", but has ", steps));
}

absl::Status SeasonalDiffShape(InferenceContext* context) {
  int64_t period;
  TF_RETURN_IF_ERROR(context->GetAttr("period", &period));
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  DimensionHandle steps = context->Dim(shape, -1);
  if (context->ValueKnown(steps)) {
    TF_RETURN_IF_ERROR(CheckPeriod(period, context->Value(steps)));
  }
  if (!context->RankKnown(shape)) {
    context->set_output(0, context->UnknownShape());
    return absl::OkStatus();
  }
  TF_RETURN_IF_ERROR(context->Subtract(steps, period, &steps));
  TF_RETURN_IF_ERROR(context->ReplaceDim(shape, -1, steps, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T, int kForm>
class SeasonalDiffOp : public OpKernel {
 public:
  explicit SeasonalDiffOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("period", &period_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& series = context->input(0);
    OP_REQUIRES(context, series.dims() >= 1,
                absl::InvalidArgumentError(
                    "series must have at least one axis, but is a scalar"));
    const int last_axis = series.dims() - 1;
    const int64_t steps = series.dim_size(last_axis);
    if constexpr (kForm == 2) {
      OP_REQUIRES_OK(context, CheckPeriod(period_, steps));
    }
    TensorShape shape = series.shape();
    shape.set_dim(last_axis, steps - period_);
    Tensor* change = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &change));
    if (change->NumElements() == 0) return;
    const KeepSubnormals keep;
    const auto in = series.flat_inner_dims<T>();
    auto out = change->flat_inner_dims<T>();
    for (int64_t row = 0; row < out.dimension(0); ++row) {
      for (int64_t i = 0; i < out.dimension(1); ++i) {
        out(row, i) = in(row, i + period_) - in(row, i);
      }
    }
  }

 private:
  int64_t period_;
};

#define XD_SEASONAL_DIFF(NAME, FORM)                             \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("period: int >= 1 = 1")                              \
      .Input("series: T")                                        \
      .Output("change: T")                                       \
      .SetShapeFn(SeasonalDiffShape);                            \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      SeasonalDiffOp<float, FORM>);                              \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      SeasonalDiffOp<double, FORM>)

XD_SEASONAL_DIFF("XdSeasonalDiffBad", 1);
XD_SEASONAL_DIFF("XdSeasonalDiffGood", 2);

absl::Status CheckLeft(int64_t trim, int64_t scores) {
  if (trim < scores && trim < scores - trim) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("scores must have a last axis of more than twice trim, ",
                   trim, ", but it has ", scores));
}

absl::Status TrimmedMeanShape(InferenceContext* context) {
  int64_t trim;
  TF_RETURN_IF_ERROR(context->GetAttr("trim", &trim));
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  const DimensionHandle scores = context->Dim(shape, -1);
  if (context->ValueKnown(scores)) {
    TF_RETURN_IF_ERROR(CheckLeft(trim, context->Value(scores)));
  }
  TF_RETURN_IF_ERROR(context->Subshape(shape, 0, -1, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T, int kForm>
class TrimmedMeanOp : public OpKernel {
 public:
  explicit TrimmedMeanOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("trim", &trim_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& scores = context->input(0);
    OP_REQUIRES(context, scores.dims() >= 1,
                absl::InvalidArgumentError(
                    "scores must have at least one axis, but is a scalar"));
    const int64_t length = scores.dim_size(scores.dims() - 1);
    OP_REQUIRES_OK(context, CheckLeft(trim_, length));
    TensorShape shape = scores.shape();
    shape.RemoveLastDims(1);
    Tensor* mean = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &mean));
    if (mean->NumElements() == 0) return;

    Tensor sorted = scores;
    if constexpr (kForm == 2) {
      OP_REQUIRES_OK(context, context->allocate_temp(scores.dtype(),
                                                     scores.shape(), &sorted));
      sorted.flat<T>() = scores.flat<T>();
    }
    const KeepSubnormals keep;
    auto out = mean->flat<T>();
    for (int64_t row = 0; row < out.size(); ++row) {
      T* begin = sorted.flat<T>().data() + row * length;
      if (std::any_of(begin, begin + length,
                      [](T score) { return std::isnan(score); })) {
        out(row) = std::numeric_limits<T>::quiet_NaN();
        continue;
      }
      std::sort(begin, begin + length);
      double sum = 0;
      for (int64_t i = trim_; i < length - trim_; ++i) sum += begin[i];
      out(row) = static_cast<T>(sum / (length - 2 * trim_));
    }
  }

 private:
  int64_t trim_;
};

#define XD_TRIMMED_MEAN(NAME, FORM)                              \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("trim: int >= 0 = 1")                                \
      .Input("scores: T")                                        \
      .Output("mean: T")                                         \
      .SetShapeFn(TrimmedMeanShape);                             \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      TrimmedMeanOp<float, FORM>);                               \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      TrimmedMeanOp<double, FORM>)

XD_TRIMMED_MEAN("XdTrimmedMeanBad", 1);
XD_TRIMMED_MEAN("XdTrimmedMeanGood", 2);

}  // namespace
}  // namespace xd
