// The solution of the chapter's exercise: how many pixels each bin has.

#include <cstdint>

#include "absl/status/status.h"
#include "roi_pool_check.h"
#include "roi_pool_geometry.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// As of RoiPool; of features, only the shape counts.
REGISTER_OP("RoiBinSizes")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Attr("spatial_scale: float")
    .Input("features: T")
    .Input("rois: float")
    .Output("sizes: int32")
    .SetShapeFn([](InferenceContext* context) -> absl::Status {
      Sizes attrs{};
      TF_RETURN_IF_ERROR(ReadAttrs(context, &attrs));
      ShapeHandle unused, rois;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &unused));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &rois));
      DimensionHandle five;
      TF_RETURN_IF_ERROR(context->WithValue(context->Dim(rois, 1), 5, &five));
      context->set_output(
          0, context->MakeShape({context->Dim(rois, 0), attrs.pooled_height,
                                 attrs.pooled_width}));
      return absl::OkStatus();
    });

// One core is enough: no pixel is read.
class RoiBinSizesOp : public tensorflow::OpKernel {
 public:
  explicit RoiBinSizesOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
  }

  void Compute(OpKernelContext* context) override {
    Sizes sizes = attrs_;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadShapes(context, &sizes, &shape));
    const float* rois = context->input(1).flat<float>().data();
    OP_REQUIRES_OK(context, CheckRois(rois, sizes));
    shape.RemoveLastDims(1);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    // [sizes] The pixels of each bin.
    int32_t* out = output->flat<int32_t>().data();
    for (int64_t n = 0; n < sizes.num_rois; ++n, rois += 5) {
      const Region region = RegionOf(rois, sizes.spatial_scale);
      for (int64_t i = 0; i < sizes.pooled_height; ++i) {
        const Span rows = BinSpan(i, sizes.pooled_height, region.y, region.rows,
                                  sizes.height);
        for (int64_t j = 0; j < sizes.pooled_width; ++j) {
          const Span cols = BinSpan(j, sizes.pooled_width, region.x,
                                    region.cols, sizes.width);
          *out++ = (rows.end - rows.begin) * (cols.end - cols.begin);
        }
      }
    }
  }

 private:
  Sizes attrs_{};
};

// For every T at once: none of its values is read.
REGISTER_KERNEL_BUILDER(Name("RoiBinSizes").Device(tensorflow::DEVICE_CPU),
                        RoiBinSizesOp);

}  // namespace
}  // namespace op_by_op
