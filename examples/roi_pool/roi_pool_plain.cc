// RoiPoolPlain: RoiPool without its speed, half types and gradient.

#include "roi_pool_plain.h"

#include <cstdint>

#include "absl/status/status.h"
#include "roi_pool_check.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] The shape comes from both inputs and two attrs.
REGISTER_OP("RoiPoolPlain")
    .Attr("T: {float, double}")
    .Attr("pooled_height: int >= 1")
    .Attr("pooled_width: int >= 1")
    .Attr("spatial_scale: float")
    .Input("features: T")
    .Input("rois: float")
    .Output("pooled: T")
    .Output("argmax: int32")
    .SetShapeFn([](InferenceContext* context) -> absl::Status {
      Sizes attrs{};
      TF_RETURN_IF_ERROR(ReadAttrs(context, &attrs));
      ShapeHandle features, rois;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &features));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &rois));
      TF_RETURN_IF_ERROR(CheckKnownMap(context, features));
      DimensionHandle five;
      TF_RETURN_IF_ERROR(context->WithValue(context->Dim(rois, 1), 5, &five));
      const ShapeHandle pooled =
          context->MakeShape({context->Dim(rois, 0), attrs.pooled_height,
                              attrs.pooled_width, context->Dim(features, 3)});
      context->set_output(0, pooled);
      context->set_output(1, pooled);
      return absl::OkStatus();
    })
    .Doc(R"doc(
RoiPool on one thread, for float32 and float64.

pooled_height: Bins along the height.
pooled_width: Bins along the width.
spatial_scale: Pixels of the map for each pixel of the image.
)doc");

// [kernel] Check, allocate, pool.
template <typename T>
class RoiPoolPlainOp : public tensorflow::OpKernel {
 public:
  explicit RoiPoolPlainOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
  }

  void Compute(OpKernelContext* context) override {
    Sizes sizes = attrs_;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadShapes(context, &sizes, &shape));
    const float* rois = context->input(1).flat<float>().data();
    OP_REQUIRES_OK(context, CheckRois(rois, sizes));
    tensorflow::Tensor *pooled = nullptr, *argmax = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &pooled));
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &argmax));
    if (shape.num_elements() == 0) return;
    const tsl::port::ScopedDontFlushDenormal keep;
    PoolBins(sizes, context->input(0).flat<T>().data(), rois,
             pooled->flat<T>().data(), argmax->flat<int32_t>().data(),
             PoolPlain<T>, 0,
             sizes.num_rois * sizes.pooled_height * sizes.pooled_width);
  }

 private:
  Sizes attrs_{};
};

// One line for each type.
REGISTER_KERNEL_BUILDER(Name("RoiPoolPlain")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        RoiPoolPlainOp<float>);
REGISTER_KERNEL_BUILDER(Name("RoiPoolPlain")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        RoiPoolPlainOp<double>);

}  // namespace
}  // namespace op_by_op
