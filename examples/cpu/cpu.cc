// ManhattanDistances: the sums of absolute differences between vectors.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cpu_panels.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

REGISTER_OP("ManhattanDistances")
    .Input("points: float")
    .Input("centers: float")
    .Output("distances: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle points, centers;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &points));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &centers));
      DimensionHandle size;
      TF_RETURN_IF_ERROR(context->Merge(context->Dim(points, 1),
                                        context->Dim(centers, 1), &size));
      context->set_output(0, context->Matrix(context->Dim(points, 0),
                                             context->Dim(centers, 0)));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The sum of absolute differences between each point and each center.

points: `[points, size]`.
centers: `[centers, size]`.
distances: `[points, centers]`.
)doc");

// [kernel] The points from begin to before end.
OP_BY_OP_CLONES void Distances(const float* points, const float* panels,
                               int64_t begin, int64_t end, int64_t count,
                               int64_t size, float* distances) {
  OnPanels(points, panels, begin, end, count, size, distances);
}

// []
class ManhattanDistancesOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor &points = context->input(0), &centers = context->input(1);
    OP_REQUIRES(context,
                points.dims() == 2 && centers.dims() == 2 &&
                    points.dim_size(1) == centers.dim_size(1),
                absl::InvalidArgumentError(absl::StrCat(
                    "points and centers must be matrices with as many columns "
                    "as each other, got shapes ",
                    points.shape().DebugString(), " and ",
                    centers.shape().DebugString())));
    const int64_t n = points.dim_size(0), count = centers.dim_size(0),
                  size = centers.dim_size(1);
    tensorflow::TensorShape shape;
    const absl::Status built =
        tensorflow::TensorShape::BuildTensorShape({n, count}, &shape);
    OP_REQUIRES(context, built.ok(),
                absl::InvalidArgumentError(absl::StrCat(
                    "points and centers are too many: ", built.message())));
    Tensor* distances = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &distances));
    if (distances->NumElements() == 0) return;
    // [share] Scratch memory for the panels, and threads that share the points.
    Tensor panels;
    OP_REQUIRES_OK(context, context->allocate_temp(
                                tensorflow::DT_FLOAT,
                                {PanelsOf(count), size, kPanel}, &panels));
    const float* from = points.matrix<float>().data();
    float* packed = panels.flat<float>().data();
    float* to = distances->matrix<float>().data();
    Pack(centers.matrix<float>().data(), count, size, packed);
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    const int64_t cycles = PanelsOf(count) * (4 * size + 20);  // of a point
    tensorflow::Shard(pool.num_threads, pool.workers, n, cycles,
                      [&](int64_t begin, int64_t end) {
                        const tsl::port::ScopedDontFlushDenormal keep;
                        Distances(from, packed, begin, end, count, size, to);
                      });
  }
};

// []
REGISTER_KERNEL_BUILDER(
    Name("ManhattanDistances").Device(tensorflow::DEVICE_CPU),
    ManhattanDistancesOp);

}  // namespace
}  // namespace op_by_op
