// Tests which points lie inside a polygon.
#include <algorithm>
#include <cmath>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaPointInPolygon")
    .Input("points: T")
    .Input("polygon: T")
    .Output("inside: bool")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle points, polygon, out;
      DimensionHandle unused;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &points));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(points, -1), 2, &unused));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &polygon));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(polygon, 1), 2, &unused));
      TF_RETURN_IF_ERROR(c->Subshape(points, 0, -1, &out));
      c->set_output(0, out);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Tests which points lie inside a polygon, by the even-odd rule.

Left and lower edges belong to the polygon, right and upper ones do not. A point with NaN is outside.

points: [..., 2], as x and y.
polygon: [m, 2] with m >= 3, the corners in order; the last is joined to the first. All finite.
inside: [...].
)doc");

template <typename T>
class PointInPolygonOp : public OpKernel {
 public:
  explicit PointInPolygonOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& points = ctx->input(0);
    const Tensor& polygon = ctx->input(1);
    OP_REQUIRES(ctx,
                points.dims() >= 1 && points.dim_size(points.dims() - 1) == 2,
                Invalid("points must have shape [..., 2], got ",
                        points.shape().DebugString()));
    OP_REQUIRES(ctx,
                polygon.dims() == 2 && polygon.dim_size(1) == 2 &&
                    polygon.dim_size(0) >= 3,
                Invalid("polygon must have shape [m, 2] with m >= 3, got ",
                        polygon.shape().DebugString()));
    auto corner = polygon.matrix<T>();
    const int64_t m = corner.dimension(0);
    for (int64_t i = 0; i < m; ++i) {
      OP_REQUIRES(ctx,
                  std::isfinite(corner(i, 0)) && std::isfinite(corner(i, 1)),
                  Invalid("polygon must be finite"));
    }
    TensorShape shape = points.shape();
    shape.RemoveLastDims(1);
    Tensor* inside = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &inside));
    auto point = points.flat<T>();
    auto out = inside->flat<bool>();
    auto work = [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const double x = point(2 * p), y = point(2 * p + 1);
        bool in = false;
        for (int64_t i = 0, j = m - 1; i < m; j = i++) {
          const double xi = corner(i, 0), yi = corner(i, 1), xj = corner(j, 0),
                       yj = corner(j, 1);
#ifdef TWIN
          if ((yi > y) == (yj > y)) continue;
#else
          if (yi == yj || y < std::min(yi, yj) || y > std::max(yi, yj))
            continue;
#endif
          if (x < xi + (xj - xi) * ((y - yi) / (yj - yi))) in = !in;
        }
        out(p) = in;
      }
    };
    const auto& threads = *ctx->device()->tensorflow_cpu_worker_threads();
    Shard(threads.num_threads, threads.workers, out.size(), 10 * m, work);
  }
};

#define REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("UaPointInPolygon").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      PointInPolygonOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
