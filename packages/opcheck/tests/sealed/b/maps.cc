// XdGreatCircle: distances on a sphere. XdPolygonArea: areas of rings.

#include "common.h"

namespace xd {
namespace {

constexpr double kDegree = 3.14159265358979323846 / 180;

absl::Status GreatCircleShape(InferenceContext* context) {
  float radius;
  TF_RETURN_IF_ERROR(context->GetAttr("radius", &radius));
  TF_RETURN_IF_ERROR(CheckPositive("radius", radius));
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(
      context->Merge(context->input(0), context->input(1), &shape));
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(shape, 1, &shape));
  DimensionHandle two;
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(shape, -1), 2, &two));
  TF_RETURN_IF_ERROR(context->Subshape(shape, 0, -1, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

// The angle at the centre of the sphere; everything in radians.
template <int kForm>
double Angle(double latitude, double longitude, double other_latitude,
             double other_longitude) {
  const double turn = other_longitude - longitude;
  if constexpr (kForm == 1) {
    return std::acos(std::sin(latitude) * std::sin(other_latitude) +
                     std::cos(latitude) * std::cos(other_latitude) *
                         std::cos(turn));
  }
  const double up = std::sin((other_latitude - latitude) / 2);
  const double across = std::sin(turn / 2);
  double h =
      up * up + std::cos(latitude) * std::cos(other_latitude) * across * across;
  if (h > 1) h = 1;
  return 2 * std::atan2(std::sqrt(h), std::sqrt(1 - h));
}

template <typename T, int kForm>
class GreatCircleOp : public OpKernel {
 public:
  explicit GreatCircleOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("radius", &radius_));
    OP_REQUIRES_OK(context, CheckPositive("radius", radius_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& start = context->input(0);
    const Tensor& goal = context->input(1);
    OP_REQUIRES(context,
                start.dims() >= 1 && start.dim_size(start.dims() - 1) == 2,
                absl::InvalidArgumentError(absl::StrCat(
                    "start must have a last axis of latitude and longitude, "
                    "but has the shape ",
                    start.shape().DebugString())));
    OP_REQUIRES(
        context, start.shape() == goal.shape(),
        absl::InvalidArgumentError(absl::StrCat(
            "goal must have the shape of start, ", start.shape().DebugString(),
            ", but has ", goal.shape().DebugString())));
    TensorShape shape = start.shape();
    shape.RemoveLastDims(1);
    Tensor* distance = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &distance));
    if (distance->NumElements() == 0) return;
    const KeepSubnormals keep;
    const auto from = start.flat_inner_dims<T>();
    const auto to = goal.flat_inner_dims<T>();
    auto out = distance->flat<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      OP_REQUIRES(context, !(std::abs(from(i, 0)) > 90),
                  absl::InvalidArgumentError(
                      absl::StrCat("start must have latitudes from -90 to 90, "
                                   "but has ",
                                   from(i, 0))));
      OP_REQUIRES(
          context, !(std::abs(to(i, 0)) > 90),
          absl::InvalidArgumentError(absl::StrCat(
              "goal must have latitudes from -90 to 90, but has ", to(i, 0))));
      out(i) = static_cast<T>(
          radius_ * Angle<kForm>(from(i, 0) * kDegree, from(i, 1) * kDegree,
                                 to(i, 0) * kDegree, to(i, 1) * kDegree));
    }
  }

 private:
  float radius_;
};

#define XD_GREAT_CIRCLE(NAME, FORM)                              \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("radius: float = 6371.0")                            \
      .Input("start: T")                                         \
      .Input("goal: T")                                          \
      .Output("distance: T")                                     \
      .SetShapeFn(GreatCircleShape);                             \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      GreatCircleOp<float, FORM>);                               \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      GreatCircleOp<double, FORM>)

XD_GREAT_CIRCLE("XdGreatCircleBad", 1);
XD_GREAT_CIRCLE("XdGreatCircleGood", 2);

absl::Status PolygonAreaShape(InferenceContext* context) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 2, &shape));
  DimensionHandle two;
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(shape, -1), 2, &two));
  const DimensionHandle corners = context->Dim(shape, -2);
  if (context->ValueKnown(corners) && context->Value(corners) < 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("ring must have at least 3 corners, but has ",
                     context->Value(corners)));
  }
  TF_RETURN_IF_ERROR(context->Subshape(shape, 0, -2, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T>
class PolygonAreaOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& ring = context->input(0);
    const int dims = ring.dims();
    OP_REQUIRES(context,
                dims >= 2 && ring.dim_size(dims - 1) == 2 &&
                    ring.dim_size(dims - 2) >= 3,
                absl::InvalidArgumentError(absl::StrCat(
                    "ring must have the shape [..., corners, 2] with at least "
                    "3 corners, but has ",
                    ring.shape().DebugString())));
    TensorShape shape = ring.shape();
    shape.RemoveLastDims(2);
    Tensor* area = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &area));
    if (area->NumElements() == 0) return;
    const KeepSubnormals keep;
    const auto in = ring.flat_inner_dims<T, 3>();
    auto out = area->flat<T>();
    const int64_t corners = in.dimension(1);
    for (int64_t i = 0; i < out.size(); ++i) {
      const double x0 = in(i, 0, 0);
      const double y0 = in(i, 0, 1);
      double twice = 0;
      for (int64_t k = 0; k < corners; ++k) {
        const int64_t next = k + 1 == corners ? 0 : k + 1;
        twice += (in(i, k, 0) - x0) * (in(i, next, 1) - y0) -
                 (in(i, next, 0) - x0) * (in(i, k, 1) - y0);
      }
      out(i) = static_cast<T>(std::abs(twice) / 2);
    }
  }
};

#define XD_POLYGON_AREA(NAME)                                    \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Input("ring: T")                                          \
      .Output("area: T")                                         \
      .SetShapeFn(PolygonAreaShape);                             \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      PolygonAreaOp<float>);                                     \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      PolygonAreaOp<double>)

XD_POLYGON_AREA("XdPolygonAreaBad");
XD_POLYGON_AREA("XdPolygonAreaGood");

}  // namespace
}  // namespace xd
