// All of the kernels but the loops, which differ between the devices.

#ifndef OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_OP_H_
#define OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_OP_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ps_roi_align.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {

// Checked in the shape function and in the kernel. `Context`: that of
// either.
template <typename Context>
absl::Status ReadAttrs(Context* context, Sizes* sizes) {
  TF_RETURN_IF_ERROR(context->GetAttr("pooled_height", &sizes->pooled_height));
  TF_RETURN_IF_ERROR(context->GetAttr("pooled_width", &sizes->pooled_width));
  TF_RETURN_IF_ERROR(
      context->GetAttr("sampling_ratio", &sizes->sampling_ratio));
  TF_RETURN_IF_ERROR(context->GetAttr("spatial_scale", &sizes->spatial_scale));
  if (sizes->pooled_height > kMostBins || sizes->pooled_width > kMostBins) {
    return absl::InvalidArgumentError(absl::StrCat(
        "pooled_height and pooled_width must be at most ", kMostBins, ", got ",
        sizes->pooled_height, " and ", sizes->pooled_width));
  }
  if (sizes->sampling_ratio > kMostSamples) {
    return absl::InvalidArgumentError(
        absl::StrCat("sampling_ratio must be at most ", kMostSamples, ", got ",
                     sizes->sampling_ratio));
  }
  if (!std::isfinite(sizes->spatial_scale) || sizes->spatial_scale <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("spatial_scale must be finite and positive, got ",
                     sizes->spatial_scale));
  }
  return absl::OkStatus();
}

// A negative size is not known.
inline absl::Status CheckMap(int64_t height, int64_t width, int64_t channels,
                             const Sizes& sizes) {
  constexpr auto kMost = static_cast<int64_t>(kFarthest);
  if (height > kMost || width > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("height and width must be at most ", kMost,
                     ", as far as rois reach, got ", height, " and ", width));
  }
  const int64_t bins = sizes.bins();
  if (channels >= 0 && channels % bins != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "features must have a multiple of pooled_height * pooled_width = ",
        bins, " channels, got ", channels));
  }
  return absl::OkStatus();
}

// Of both ops: fills in the sizes of the map and of the regions.
inline absl::Status ReadShapes(const tensorflow::TensorShape& features,
                               const tensorflow::TensorShape& rois,
                               Sizes* sizes) {
  if (features.dims() != 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "features must have shape [batch, height, width, channels], got shape ",
        features.DebugString()));
  }
  if (rois.dims() != 2 || rois.dim_size(1) != 5) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rois must have shape [num_rois, 5], got shape ", rois.DebugString()));
  }
  TF_RETURN_IF_ERROR(CheckMap(features.dim_size(1), features.dim_size(2),
                              features.dim_size(3), *sizes));
  sizes->batch = features.dim_size(0);
  sizes->height = features.dim_size(1);
  sizes->width = features.dim_size(2);
  sizes->channels = features.dim_size(3) / sizes->bins();
  sizes->num_rois = rois.dim_size(0);
  return absl::OkStatus();
}

inline absl::Status PooledShape(const Sizes& sizes,
                                tensorflow::TensorShape* pooled) {
  return tensorflow::TensorShape::BuildTensorShape(
      {sizes.num_rois, sizes.pooled_height, sizes.pooled_width, sizes.channels},
      pooled);
}

// The shape that the gradient has to have, from a tensor in host memory.
inline absl::Status FeatureShape(const tensorflow::Tensor& values,
                                 tensorflow::TensorShape* features) {
  if (values.dims() != 1 || values.dim_size(0) != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("feature_shape must have shape [4], got shape ",
                     values.shape().DebugString()));
  }
  const auto shape = values.vec<int32_t>();
  for (int i = 0; i < 4; ++i) {
    if (shape(i) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("feature_shape must not be negative, got feature_shape[",
                       i, "] = ", shape(i)));
    }
  }
  const absl::Status built = tensorflow::TensorShape::BuildTensorShape(
      {shape(0), shape(1), shape(2), shape(3)}, features);
  return built.ok() ? built
                    : absl::InvalidArgumentError(absl::StrCat(
                          "feature_shape is too large: ", built.message()));
}

// Scratch memory of a call, given back at its end.
template <typename W>
class Tables {
 public:
  // [allocate] The spans and weights of all regions.
  absl::Status Allocate(tensorflow::OpKernelContext* context,
                        const Sizes& sizes, const float* rois) {
    const int64_t slots =
        sizes.num_rois * (sizes.pooled_height + sizes.pooled_width);
    tensorflow::TensorShape spans, weights;
    TF_RETURN_IF_ERROR(
        tensorflow::TensorShape::BuildTensorShape({slots, 2}, &spans));
    TF_RETURN_IF_ERROR(tensorflow::TensorShape::BuildTensorShape(
        {slots, sizes.most_pixels}, &weights));
    TF_RETURN_IF_ERROR(
        context->allocate_temp(tensorflow::DT_INT32, spans, &spans_));
    TF_RETURN_IF_ERROR(context->allocate_temp(
        tensorflow::DataTypeToEnum<W>::value, weights, &weights_));
    bins_ = {sizes, rois, static_cast<Span*>(spans_.data()),
             static_cast<W*>(weights_.data())};
    return absl::OkStatus();
  }

  // What the loops take.
  const Weights<W>& bins() const { return bins_; }

 private:
  tensorflow::Tensor spans_, weights_;
  Weights<W> bins_;
};

// `Device` has the loops.
template <typename Device, typename T>
class PsRoiAlignOp : public tensorflow::OpKernel {
 public:
  explicit PsRoiAlignOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& features = context->input(0);
    const float* rois = context->input(1).flat<float>().data();
    Sizes sizes = attrs_;
    OP_REQUIRES_OK(context, ReadShapes(features.shape(),
                                       context->input(1).shape(), &sizes));
    int64_t pixels;
    OP_REQUIRES_OK(context, Device::Plan(rois, &sizes, &pixels));
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, PooledShape(sizes, &shape));
    tensorflow::Tensor* pooled = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &pooled));
    if (pooled->NumElements() == 0) return;
    Tables<Wide<T>> tables;
    OP_REQUIRES_OK(context, tables.Allocate(context, sizes, rois));
    OP_REQUIRES_OK(context, Device::template Run<T>(
                                context,
                                {tables.bins(), features.flat<T>().data(),
                                 pooled->flat<T>().data()},
                                pixels));
  }

 private:
  Sizes attrs_{};
};

// For 16-bit types, the sums have memory of their own.
template <typename Device, typename T>
class PsRoiAlignGradOp : public tensorflow::OpKernel {
 public:
  explicit PsRoiAlignGradOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& gradient = context->input(0);
    const float* rois = context->input(1).flat<float>().data();
    tensorflow::TensorShape shape, pooled;
    OP_REQUIRES_OK(context, FeatureShape(context->input(2), &shape));
    Sizes sizes = attrs_;
    OP_REQUIRES_OK(context,
                   ReadShapes(shape, context->input(1).shape(), &sizes));
    OP_REQUIRES_OK(context, PooledShape(sizes, &pooled));
    OP_REQUIRES(context, gradient.shape() == pooled,
                absl::InvalidArgumentError(absl::StrCat(
                    "gradient must have shape ", pooled.DebugString(),
                    ", got shape ", gradient.shape().DebugString())));
    int64_t pixels;
    OP_REQUIRES_OK(context, Device::Plan(rois, &sizes, &pixels));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    if (output->NumElements() == 0) return;
    Tables<Wide<T>> tables;
    OP_REQUIRES_OK(context, tables.Allocate(context, sizes, rois));
    tensorflow::Tensor sums = *output;
    if (!std::is_same_v<T, Wide<T>>) {
      OP_REQUIRES_OK(context, context->allocate_temp(
                                  tensorflow::DataTypeToEnum<Wide<T>>::value,
                                  shape, &sums));
    }
    OP_REQUIRES_OK(context,
                   Device::template RunGrad<T>(
                       context,
                       {tables.bins(), gradient.flat<T>().data(),
                        sums.flat<Wide<T>>().data(), output->flat<T>().data()},
                       pixels));
  }

 private:
  Sizes attrs_{};
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_OP_H_
