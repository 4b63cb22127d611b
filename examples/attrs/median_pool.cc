// MedianPool: the median of each square window of an image.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "median.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// Windows lie side by side; what is left at the end is dropped.
REGISTER_OP("MedianPool")
    .Attr("ksize: int >= 1")
    .Input("images: float")
    .Output("medians: float")
    .SetShapeFn([](InferenceContext* context) -> absl::Status {
      int64_t ksize;
      TF_RETURN_IF_ERROR(context->GetAttr("ksize", &ksize));
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &shape));
      for (const int axis : {1, 2}) {
        DimensionHandle side = context->Dim(shape, axis);
        TF_RETURN_IF_ERROR(context->Divide(side, ksize, false, &side));
        TF_RETURN_IF_ERROR(context->ReplaceDim(shape, axis, side, &shape));
      }
      context->set_output(0, shape);
      return absl::OkStatus();
    });

// Threads share the rows of medians.
class MedianPoolOp : public tensorflow::OpKernel {
 public:
  explicit MedianPoolOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("ksize", &ksize_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& images = context->input(0);
    OP_REQUIRES(context, images.dims() == 4,
                absl::InvalidArgumentError(absl::StrCat(
                    "images must have 4 axes, but has ", images.dims())));
    tensorflow::TensorShape shape = images.shape();
    for (const int axis : {1, 2}) {
      OP_REQUIRES_OK(context, shape.SetDimWithStatus(
                                  axis, images.dim_size(axis) / ksize_));
    }
    tensorflow::Tensor* medians = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &medians));
    if (medians->NumElements() == 0) return;
    const auto in = images.tensor<float, 4>();
    auto out = medians->tensor<float, 4>();
    const int64_t rows = shape.dim_size(0) * shape.dim_size(1);
    const int64_t cost = 10 * images.NumElements() / rows;
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(
        pool.num_threads, pool.workers, rows, cost,
        [&](int64_t begin, int64_t end) {
          std::vector<float> values(ksize_ * ksize_);
          for (int64_t row = begin; row < end; ++row) {
            const int64_t n = row / out.dimension(1);
            const int64_t y = row % out.dimension(1);
            for (int64_t x = 0; x < out.dimension(2); ++x) {
              for (int64_t c = 0; c < out.dimension(3); ++c) {
                float* value = values.data();
                for (int64_t i = 0; i < ksize_; ++i) {
                  for (int64_t j = 0; j < ksize_; ++j) {
                    *value++ = in(n, y * ksize_ + i, x * ksize_ + j, c);
                  }
                }
                out(n, y, x, c) = Median(values.data(), ksize_ * ksize_);
              }
            }
          }
        });
  }

 private:
  int64_t ksize_;
};

REGISTER_KERNEL_BUILDER(Name("MedianPool").Device(tensorflow::DEVICE_CPU),
                        MedianPoolOp);

}  // namespace
}  // namespace op_by_op
