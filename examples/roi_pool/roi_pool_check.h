// What the kernels of every device check before they start.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CHECK_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CHECK_H_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "roi_pool_geometry.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {

inline absl::Status CheckAttrs(int64_t pooled_height, int64_t pooled_width,
                               float spatial_scale) {
  if (pooled_height > kMostBins || pooled_width > kMostBins) {
    return absl::InvalidArgumentError(absl::StrCat(
        "pooled_height and pooled_width must be at most ", kMostBins, ", got ",
        pooled_height, " and ", pooled_width));
  }
  // The message shows a subnormal number as it is, not as 0.
  const tsl::port::ScopedDontFlushDenormal keep;
  if (!std::isnormal(spatial_scale) || spatial_scale < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spatial_scale must be a positive normal number, got ", spatial_scale));
  }
  return absl::OkStatus();
}

// No coordinate is beyond kFarthest; argmax is int32 and counts the
// pixels of one image.
inline absl::Status CheckMap(int64_t height, int64_t width) {
  constexpr auto kMost = static_cast<int64_t>(kFarthest);
  if (height > kMost || width > kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("height and width must be at most ", kMost,
                     ", as far as rois reach, got ", height, " and ", width));
  }
  if (width > 0 && height > std::numeric_limits<int32_t>::max() / width) {
    return absl::InvalidArgumentError(absl::StrCat(
        "height * width must be less than 2^31 for argmax to be int32, got ",
        height, " * ", width));
  }
  return absl::OkStatus();
}

// As far as the sizes of features are known.
inline absl::Status CheckKnownMap(
    tensorflow::shape_inference::InferenceContext* context,
    tensorflow::shape_inference::ShapeHandle features) {
  const int64_t height = context->Value(context->Dim(features, 1));
  const int64_t width = context->Value(context->Dim(features, 2));
  return height < 0 || width < 0 ? absl::OkStatus() : CheckMap(height, width);
}

// Reads and checks the attrs. `Context`: of the shape function or the kernel.
template <typename Context>
absl::Status ReadAttrs(Context* context, Sizes* sizes) {
  TF_RETURN_IF_ERROR(context->GetAttr("pooled_height", &sizes->pooled_height));
  TF_RETURN_IF_ERROR(context->GetAttr("pooled_width", &sizes->pooled_width));
  TF_RETURN_IF_ERROR(context->GetAttr("spatial_scale", &sizes->spatial_scale));
  return CheckAttrs(sizes->pooled_height, sizes->pooled_width,
                    sizes->spatial_scale);
}

inline absl::Status CheckRoisShape(const tensorflow::TensorShape& rois) {
  if (rois.dims() != 2 || rois.dim_size(1) != 5) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rois must have shape [num_rois, 5], got shape ", rois.DebugString()));
  }
  return absl::OkStatus();
}

// Inputs features and rois: fills in what ReadAttrs has left, and the shape of
// the outputs.
inline absl::Status ReadShapes(tensorflow::OpKernelContext* context,
                               Sizes* sizes, tensorflow::TensorShape* pooled) {
  const tensorflow::TensorShape& features = context->input(0).shape();
  const tensorflow::TensorShape& rois = context->input(1).shape();
  if (features.dims() != 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "features must have shape [batch, height, width, channels], got shape ",
        features.DebugString()));
  }
  TF_RETURN_IF_ERROR(CheckRoisShape(rois));
  sizes->batch = features.dim_size(0);
  sizes->height = features.dim_size(1);
  sizes->width = features.dim_size(2);
  sizes->channels = features.dim_size(3);
  sizes->num_rois = rois.dim_size(0);
  TF_RETURN_IF_ERROR(CheckMap(sizes->height, sizes->width));
  return tensorflow::TensorShape::BuildTensorShape(
      {sizes->num_rois, sizes->pooled_height, sizes->pooled_width,
       sizes->channels},
      pooled);
}

// Inputs gradient, argmax, rois and feature_shape, the last in host memory.
inline absl::Status ReadGradShapes(tensorflow::OpKernelContext* context,
                                   Sizes* sizes,
                                   tensorflow::TensorShape* features) {
  const tensorflow::TensorShape& gradient = context->input(0).shape();
  const tensorflow::TensorShape& argmax = context->input(1).shape();
  const tensorflow::TensorShape& rois = context->input(2).shape();
  const tensorflow::Tensor& feature_shape = context->input(3);
  if (gradient.dims() != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient must have shape [num_rois, pooled_height, "
                     "pooled_width, channels], got shape ",
                     gradient.DebugString()));
  }
  if (argmax != gradient) {
    return absl::InvalidArgumentError(absl::StrCat(
        "argmax must have the shape of gradient, ", gradient.DebugString(),
        ", got shape ", argmax.DebugString()));
  }
  TF_RETURN_IF_ERROR(CheckRoisShape(rois));
  if (rois.dim_size(0) != gradient.dim_size(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("rois must have as many rows as gradient, ",
                     gradient.dim_size(0), ", got shape ", rois.DebugString()));
  }
  if (feature_shape.dims() != 1 || feature_shape.dim_size(0) != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("feature_shape must have shape [4], got shape ",
                     feature_shape.shape().DebugString()));
  }
  const auto shape = feature_shape.vec<int32_t>();
  for (int i = 0; i < 4; ++i) {
    if (shape(i) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("feature_shape must not be negative, got feature_shape[",
                       i, "] = ", shape(i)));
    }
  }
  if (shape(3) != gradient.dim_size(3)) {
    return absl::InvalidArgumentError(
        absl::StrCat("feature_shape must have the channels of gradient, ",
                     gradient.dim_size(3), ", got ", shape(3)));
  }
  *sizes = {shape(0),
            shape(1),
            shape(2),
            shape(3),
            gradient.dim_size(0),
            gradient.dim_size(1),
            gradient.dim_size(2),
            1.0f};
  TF_RETURN_IF_ERROR(CheckMap(sizes->height, sizes->width));
  return tensorflow::TensorShape::BuildTensorShape(
      {sizes->batch, sizes->height, sizes->width, sizes->channels}, features);
}

// The values of rois, in the memory of the host.
inline absl::Status CheckRois(const float* rois, const Sizes& sizes) {
  for (int64_t n = 0; n < sizes.num_rois; ++n, rois += 5) {
    const float image = rois[0];
    // The comparisons are false for NaN, too.
    if (!(image >= 0 && image < static_cast<double>(sizes.batch) &&
          image == std::floor(image))) {
      char digits[32];  // StrCat shows only six
      std::snprintf(digits, sizeof digits, "%.9g", image);
      return absl::InvalidArgumentError(absl::StrCat(
          "rois[", n, ", 0], a batch index, must be a whole number in [0, ",
          sizes.batch, "), got ", digits));
    }
    for (int i = 1; i < 5; ++i) {
      if (!std::isfinite(rois[i])) {
        return absl::InvalidArgumentError(absl::StrCat(
            "rois[", n, ", ", i, "] must be finite, got ", rois[i]));
      }
    }
  }
  return absl::OkStatus();
}

// The values of argmax, in the memory of the host.
inline absl::Status CheckArgmax(const int32_t* argmax, int64_t count,
                                const Sizes& sizes) {
  const int64_t pixels = sizes.height * sizes.width;
  for (int64_t i = 0; i < count; ++i) {
    if (argmax[i] < -1 || argmax[i] >= pixels) {
      return absl::InvalidArgumentError(absl::StrCat(
          "argmax must be in [-1, ", pixels, "), the pixels of the map, got ",
          argmax[i], " at element ", i));
    }
  }
  return absl::OkStatus();
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CHECK_H_
