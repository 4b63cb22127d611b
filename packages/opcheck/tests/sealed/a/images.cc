// Ops on points, numbers and images: Haversine, Exprel, Chroma420, Stretch.

#include "xc.h"

namespace xc {
namespace {

// ------------------------------------------------------------------ Haversine
// The distance on a sphere of points given as latitude and longitude, degrees.
absl::Status HaversineShape(InferenceContext* context) {
  ShapeHandle a, b, same, points;
  DimensionHandle two;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &a));
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(1), 1, &b));
  TF_RETURN_IF_ERROR(context->Merge(a, b, &same));
  if (!context->RankKnown(same)) {
    context->set_output(0, context->UnknownShape());
    return absl::OkStatus();
  }
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(same, -1), 2, &two));
  TF_RETURN_IF_ERROR(context->Subshape(same, 0, -1, &points));
  context->set_output(0, points);
  return absl::OkStatus();
}

template <typename T, int V>
class HaversineOp : public OpKernel {
 public:
  explicit HaversineOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("radius", &radius_));
    XC_REQUIRE(context, std::isfinite(radius_) && radius_ > 0,
               "radius must be positive and finite, but is ", radius_);
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    XC_REQUIRE(context, a.dims() >= 1 && a.dim_size(a.dims() - 1) == 2,
               "a must have a last axis of 2, but has shape ",
               a.shape().DebugString());
    XC_REQUIRE(context, b.shape() == a.shape(), "b must have the shape of a, ",
               a.shape().DebugString(), ", but has ", b.shape().DebugString());
    TensorShape shape = a.shape();
    shape.RemoveLastDims(1);
    Tensor* distance = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &distance));
    const ScopedDontFlushDenormal keep;
    const T* from = a.flat<T>().data();
    const T* to = b.flat<T>().data();
    auto out = distance->flat<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      XC_REQUIRE(context, !(std::abs(from[2 * i]) > 90),
                 "a must have latitudes from -90 to 90, but has ", from[2 * i]);
      XC_REQUIRE(context, !(std::abs(to[2 * i]) > 90),
                 "b must have latitudes from -90 to 90, but has ", to[2 * i]);
      if (V == 0) {
        out(i) =
            static_cast<T>(radius_ * Angle<double>(from[2 * i], from[2 * i + 1],
                                                   to[2 * i], to[2 * i + 1]));
      } else {
        out(i) =
            static_cast<T>(radius_ * Cosines<T>(from[2 * i], from[2 * i + 1],
                                                to[2 * i], to[2 * i + 1]));
      }
    }
  }

 private:
  template <typename F>
  static F Angle(F lat_a, F lon_a, F lat_b, F lon_b) {
    const F degree = static_cast<F>(M_PI / 180);
    const F cosines = std::cos(lat_a * degree) * std::cos(lat_b * degree);
    const F across = (lat_b - lat_a) * degree / 2;
    const F middle = (lat_b + lat_a) * degree / 2;
    const F along = std::fmod(lon_b - lon_a, F(360)) * degree / 2;
    const F near = std::sin(across) * std::sin(across) +
                   cosines * std::sin(along) * std::sin(along);
    const F far = std::sin(middle) * std::sin(middle) +
                  cosines * std::cos(along) * std::cos(along);
    return 2 * std::atan2(std::sqrt(near), std::sqrt(far));
  }

  template <typename F>
  static F Cosines(F lat_a, F lon_a, F lat_b, F lon_b) {
    const F degree = static_cast<F>(M_PI / 180);
    const F cosine = std::sin(lat_a * degree) * std::sin(lat_b * degree) +
                     std::cos(lat_a * degree) * std::cos(lat_b * degree) *
                         std::cos(std::fmod(lon_b - lon_a, F(360)) * degree);
    if (std::isnan(cosine)) return cosine;
    return std::acos(std::clamp(cosine, F(-1), F(1)));
  }

  float radius_;
};

#define HAVERSINE(NAME, V)                       \
  REGISTER_OP(NAME)                              \
      .Attr("T: {float, double}")                \
      .Attr("radius: float = 6371000.0")         \
      .Input("a: T")                             \
      .Input("b: T")                             \
      .Output("distance: T")                     \
      .SetShapeFn(HaversineShape);               \
  XC_KERNEL(NAME, float, HaversineOp<float, V>); \
  XC_KERNEL(NAME, double, HaversineOp<double, V>);

HAVERSINE("XcHaversineGood", 0)
HAVERSINE("XcHaversineBad", 1)

// --------------------------------------------------------------------- Exprel
// (exp(x) - 1) / x, of the rates of the Hodgkin-Huxley model.
template <typename T>
class ExprelOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const ScopedDontFlushDenormal keep;
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = static_cast<T>(Exprel(in(i)));
    }
  }

 private:
  static double Exprel(double x) {
    if (x == 0) return 1;
    if (x > 1e4) return std::numeric_limits<double>::infinity();
    if (x > 700) return std::exp(x / 2) / x * std::exp(x / 2);
    return std::expm1(x) / x;
  }
};

#define EXPREL(NAME)                               \
  REGISTER_OP(NAME)                                \
      .Attr("T: {float, double}")                  \
      .Input("x: T")                               \
      .Output("y: T")                              \
      .SetShapeFn([](InferenceContext* context) {  \
        context->set_output(0, context->input(0)); \
        return absl::OkStatus();                   \
      });                                          \
  XC_KERNEL(NAME, float, ExprelOp<float>);         \
  XC_KERNEL(NAME, double, ExprelOp<double>);

EXPREL("XcExprelGood")
EXPREL("XcExprelBad")

// ------------------------------------------------------------------ Chroma420
// The mean of every 2 x 2 block of the last two axes; those at the end of an
// odd axis are smaller.
template <int V>
absl::Status ChromaShape(InferenceContext* context) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 2, &shape));
  if (!context->RankKnown(shape)) {
    context->set_output(0, context->UnknownShape());
    return absl::OkStatus();
  }
  for (int axis = -2; axis < 0; ++axis) {
    const DimensionHandle size = context->Dim(shape, axis);
    DimensionHandle half;
    if (V == 0 && !context->ValueKnown(size)) {
      half = context->UnknownDim();
    } else {
      half = context->MakeDim((context->Value(size) + 1) / 2);
    }
    TF_RETURN_IF_ERROR(context->ReplaceDim(shape, axis, half, &shape));
  }
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T>
class ChromaOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& plane = context->input(0);
    const int rank = plane.dims();
    XC_REQUIRE(context, rank >= 2,
               "plane must have at least two axes, but has ", rank);
    const int64_t height = plane.dim_size(rank - 2);
    const int64_t width = plane.dim_size(rank - 1);
    TensorShape shape = plane.shape();
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(rank - 2, (height + 1) / 2));
    OP_REQUIRES_OK(context, shape.SetDimWithStatus(rank - 1, (width + 1) / 2));
    Tensor* half = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &half));
    if (plane.NumElements() == 0) return;
    const ScopedDontFlushDenormal keep;
    const auto in = plane.flat_inner_dims<T, 3>();
    auto out = half->flat_inner_dims<T, 3>();
    for (int64_t n = 0; n < out.dimension(0); ++n) {
      for (int64_t i = 0; i < out.dimension(1); ++i) {
        for (int64_t j = 0; j < out.dimension(2); ++j) {
          double sum = 0;
          int count = 0;
          for (int64_t y = 2 * i; y < std::min(2 * i + 2, height); ++y) {
            for (int64_t x = 2 * j; x < std::min(2 * j + 2, width); ++x) {
              sum += in(n, y, x);
              ++count;
            }
          }
          const double mean = sum / count;
          out(n, i, j) = std::is_integral_v<T>
                             ? static_cast<T>(std::floor(mean + 0.5))
                             : static_cast<T>(mean);
        }
      }
    }
  }
};

#define CHROMA(NAME, V)                          \
  REGISTER_OP(NAME)                              \
      .Attr("T: {uint8, uint16, float, double}") \
      .Input("plane: T")                         \
      .Output("half: T")                         \
      .SetShapeFn(ChromaShape<V>);               \
  XC_KERNEL(NAME, uint8_t, ChromaOp<uint8_t>);   \
  XC_KERNEL(NAME, uint16_t, ChromaOp<uint16_t>); \
  XC_KERNEL(NAME, float, ChromaOp<float>);       \
  XC_KERNEL(NAME, double, ChromaOp<double>);

CHROMA("XcChroma420Good", 0)
CHROMA("XcChroma420Bad", 1)

// -------------------------------------------------------------------- Stretch
// Maps every image, of the last two axes, from its own range to 0 to 1.
absl::Status StretchShape(InferenceContext* context) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 2, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T, int V>
class StretchOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& images = context->input(0);
    const int rank = images.dims();
    XC_REQUIRE(context, rank >= 2,
               "images must have at least two axes, but has ", rank);
    Tensor* stretched = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, images.shape(), &stretched));
    if (images.NumElements() == 0) return;
    const int64_t size = images.dim_size(rank - 2) * images.dim_size(rank - 1);
    const T* in = images.flat<T>().data();
    const T* end = in + images.NumElements();
    float* out = stretched->flat<float>().data();
    using Range = std::conditional_t<V == 0, int64_t, T>;
    for (; in != end; in += size, out += size) {
      const auto ends = std::minmax_element(in, in + size);
      const T lowest = *ends.first;
      const Range range = static_cast<Range>(Range{*ends.second} - lowest);
      for (int64_t i = 0; i < size; ++i) {
        out[i] =
            range == 0 ? 0 : static_cast<float>(double(in[i] - lowest) / range);
      }
    }
  }
};

#define STRETCH(NAME, V)                             \
  REGISTER_OP(NAME)                                  \
      .Attr("T: {uint8, uint16, int16}")             \
      .Input("images: T")                            \
      .Output("stretched: float")                    \
      .SetShapeFn(StretchShape);                     \
  XC_KERNEL(NAME, uint8_t, StretchOp<uint8_t, V>);   \
  XC_KERNEL(NAME, uint16_t, StretchOp<uint16_t, V>); \
  XC_KERNEL(NAME, int16_t, StretchOp<int16_t, V>);

STRETCH("XcStretchGood", 0)
STRETCH("XcStretchBad", 1)

}  // namespace
}  // namespace xc
