// RoiPool: the maximum of every bin of every region of interest.

#include <cstdint>

#include "absl/status/status.h"
#include "large_pages.h"
#include "roi_pool_check.h"
#include "roi_pool_cpu.h"
#include "roi_pool_shard.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// All that is known before the values are, and every error that shows by then.
absl::Status PooledShape(InferenceContext* context) {
  Sizes attrs{};
  TF_RETURN_IF_ERROR(ReadAttrs(context, &attrs));
  ShapeHandle features, rois;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &features));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &rois));
  TF_RETURN_IF_ERROR(CheckKnownMap(context, features));
  DimensionHandle five;
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(rois, 1), 5, &five));
  const ShapeHandle pooled = context->MakeShape(
      {context->Dim(rois, 0), context->MakeDim(attrs.pooled_height),
       context->MakeDim(attrs.pooled_width), context->Dim(features, 3)});
  for (int i = 0; i < context->num_outputs(); ++i) {
    context->set_output(i, pooled);
  }
  return absl::OkStatus();
}

// The shape of the gradient's output, as far as it is known.
absl::Status FeatureShape(InferenceContext* context) {
  ShapeHandle gradient, rois, features;
  DimensionHandle unused;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &gradient));
  TF_RETURN_IF_ERROR(context->Merge(gradient, context->input(1), &gradient));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(2), 2, &rois));
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(rois, 1), 5, &unused));
  TF_RETURN_IF_ERROR(context->Merge(context->Dim(rois, 0),
                                    context->Dim(gradient, 0), &unused));
  TF_RETURN_IF_ERROR(context->MakeShapeFromShapeTensor(3, &features));
  TF_RETURN_IF_ERROR(context->WithRank(features, 4, &features));
  TF_RETURN_IF_ERROR(CheckKnownMap(context, features));
  DimensionHandle channels;
  TF_RETURN_IF_ERROR(context->Merge(context->Dim(features, 3),
                                    context->Dim(gradient, 3), &channels));
  TF_RETURN_IF_ERROR(context->ReplaceDim(features, 3, channels, &features));
  context->set_output(0, features);
  return absl::OkStatus();
}

// [interface] Two ops: training needs one more output.
#define ROI_POOL_OP(name)                         \
  REGISTER_OP(name)                               \
      .Attr("T: {half, bfloat16, float, double}") \
      .Attr("pooled_height: int >= 1")            \
      .Attr("pooled_width: int >= 1")             \
      .Attr("spatial_scale: float")               \
      .Attr("check_rois: bool = false")           \
      .Input("features: T")                       \
      .Input("rois: float")                       \
      .Output("pooled: T")                        \
      .SetShapeFn(PooledShape)

ROI_POOL_OP("RoiPool").Output("argmax: int32").Doc(R"doc(
Cuts each region of interest into bins and takes the maximum of each.

features: `[batch, height, width, channels]`.
rois: `[num_rois, 5]`: batch index, x1, y1, x2, y2, in pixels of the image.
pooled: `[num_rois, pooled_height, pooled_width, channels]`, 0 where a bin lies
  outside of the map.
argmax: The first maximum of each bin as `h * width + w`, -1 where there is none.
spatial_scale: Pixels of the map for each pixel of the image.
check_rois: Check the values of rois on the GPU, too: the call then waits for all
  work before it. The CPU checks them always.
)doc");

// The same without argmax.
ROI_POOL_OP("RoiPoolInference").Doc(R"doc(
RoiPool without argmax, and so without a gradient.

features: `[batch, height, width, channels]`.
rois: `[num_rois, 5]`: batch index, x1, y1, x2, y2, in pixels of the image.
pooled: `[num_rois, pooled_height, pooled_width, channels]`, 0 where a bin lies
  outside of the map.
spatial_scale: Pixels of the map for each pixel of the image.
check_rois: Check the values of rois on the GPU, too: the call then waits for all
  work before it. The CPU checks them always.
)doc");

// The gradient for the features.
REGISTER_OP("RoiPoolGrad")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("spatial_scale: float = 0.0")
    .Input("gradient: T")
    .Input("argmax: int32")
    .Input("rois: float")
    .Input("feature_shape: int32")
    .Output("features_gradient: T")
    .SetShapeFn(FeatureShape)
    .Doc(R"doc(
Adds each element of the gradient of pooled to where its maximum came from.

gradient: `[num_rois, pooled_height, pooled_width, channels]`.
argmax: The output of RoiPool.
rois: The input of RoiPool.
feature_shape: `[batch, height, width, channels]`.
features_gradient: Of shape feature_shape.
spatial_scale: As RoiPool was given it, with which the GPU looks only at bins
  nearby; an argmax outside of its bin is then left out. 0 if not known.
)doc");

// Check, and allocate the outputs.
template <typename T>
class RoiPoolOp : public tensorflow::OpKernel {
 public:
  explicit RoiPoolOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
  }

  void Compute(OpKernelContext* context) override {
    using B = typename Bits<T>::type;
    Sizes sizes = attrs_;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadShapes(context, &sizes, &shape));
    const auto* features =
        reinterpret_cast<const B*>(context->input(0).flat<T>().data());
    const float* rois = context->input(1).flat<float>().data();
    OP_REQUIRES_OK(context, CheckRois(rois, sizes));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    AdviseLargePages(*output);
    auto* pooled = reinterpret_cast<B*>(output->flat<T>().data());
    int32_t* argmax = nullptr;
    if (context->num_outputs() == 2) {
      OP_REQUIRES_OK(context, context->allocate_output(1, shape, &output));
      AdviseLargePages(*output);
      argmax = output->flat<int32_t>().data();
    }
    if (shape.num_elements() == 0) return;

    // Pool the rows of bins, on as many threads as pay off.
    const Pooling<B> call{sizes, features, rois, pooled, argmax};
    const Plan plan = PlanOf(call);
    Tensor scratch;
    OP_REQUIRES_OK(
        context, context->allocate_temp(
                     tensorflow::DT_UINT8,
                     tensorflow::TensorShape({plan.scratch_bytes}), &scratch));
    absl::Status status;
    Pool(call, path_, plan, scratch.flat<uint8_t>().data(),
         ShardOn(context, &status));
    OP_REQUIRES_OK(context, status);
  }

 private:
  Sizes attrs_{};
  const Path<typename Bits<T>::type> path_ = FindPath<typename Bits<T>::type>();
};

// Each thread has channels of its own, and adds in the same order.
template <typename T>
class RoiPoolGradOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    using B = typename Bits<T>::type;
    Sizes sizes;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadGradShapes(context, &sizes, &shape));
    const auto* gradient =
        reinterpret_cast<const B*>(context->input(0).flat<T>().data());
    const int32_t* argmax = context->input(1).flat<int32_t>().data();
    const float* rois = context->input(2).flat<float>().data();
    OP_REQUIRES_OK(context, CheckRois(rois, sizes));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    AdviseLargePages(*output);
    auto* features = reinterpret_cast<B*>(output->flat<T>().data());

    absl::Status status;
    const bool good = PoolGrad<B>({sizes, gradient, argmax, rois, features},
                                  ShardOn(context, &status));
    OP_REQUIRES_OK(context, status);
    if (good) return;
    OP_REQUIRES_OK(context,
                   CheckArgmax(argmax, context->input(1).NumElements(), sizes));
  }
};

// One line for each type.
#define REGISTER_ROI_POOL(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("RoiPool").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      RoiPoolOp<T>);                                                         \
  REGISTER_KERNEL_BUILDER(Name("RoiPoolInference")                           \
                              .Device(tensorflow::DEVICE_CPU)                \
                              .TypeConstraint<T>("T"),                       \
                          RoiPoolOp<T>);                                     \
  REGISTER_KERNEL_BUILDER(Name("RoiPoolGrad")                                \
                              .Device(tensorflow::DEVICE_CPU)                \
                              .TypeConstraint<T>("T"),                       \
                          RoiPoolGradOp<T>)
REGISTER_ROI_POOL(Eigen::half);
REGISTER_ROI_POOL(tensorflow::bfloat16);
REGISTER_ROI_POOL(float);
REGISTER_ROI_POOL(double);

}  // namespace
}  // namespace op_by_op
