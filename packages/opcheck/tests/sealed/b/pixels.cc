// XdLuminance: from colours to grey. XdBlockMean: a smaller image.

#include "common.h"

namespace xd {
namespace {

absl::Status LuminanceShape(InferenceContext* context) {
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &shape));
  DimensionHandle three;
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(shape, -1), 3, &three));
  TF_RETURN_IF_ERROR(context->Subshape(shape, 0, -1, &shape));
  context->set_output(0, shape);
  return absl::OkStatus();
}

// The shares of red, green and blue, in millionths.
constexpr int kShares[] = {212656, 715158, 72186};
constexpr int kMillion = 1000000;

template <typename T, typename Sum>
class LuminanceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& image = context->input(0);
    OP_REQUIRES(context,
                image.dims() >= 1 && image.dim_size(image.dims() - 1) == 3,
                absl::InvalidArgumentError(absl::StrCat(
                    "image must have a last axis of 3 channels, but has the "
                    "shape ",
                    image.shape().DebugString())));
    TensorShape shape = image.shape();
    shape.RemoveLastDims(1);
    Tensor* luminance = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &luminance));
    if (luminance->NumElements() == 0) return;
    const auto in = image.flat_inner_dims<T>();
    auto out = luminance->flat<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      Sum sum = kMillion / 2;
      for (int channel = 0; channel < 3; ++channel) {
        sum += static_cast<Sum>(in(i, channel)) * kShares[channel];
      }
      out(i) = static_cast<T>(sum / kMillion);
    }
  }
};

#define XD_LUMINANCE(NAME, SUM)                                    \
  REGISTER_OP(NAME)                                                \
      .Attr("T: {uint8, uint16}")                                  \
      .Input("image: T")                                           \
      .Output("luminance: T")                                      \
      .SetShapeFn(LuminanceShape);                                 \
  REGISTER_KERNEL_BUILDER(                                         \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<uint8_t>("T"),  \
      LuminanceOp<uint8_t, SUM>);                                  \
  REGISTER_KERNEL_BUILDER(                                         \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<uint16_t>("T"), \
      LuminanceOp<uint16_t, SUM>)

XD_LUMINANCE("XdLuminanceBad", int32_t);
XD_LUMINANCE("XdLuminanceGood", int64_t);

// How many blocks a side has; the last one may be narrower.
int64_t Blocks(int64_t side, int64_t block) {
  return side / block + (side % block != 0);
}

template <int kForm>
absl::Status BlockMeanShape(InferenceContext* context) {
  int64_t block;
  TF_RETURN_IF_ERROR(context->GetAttr("block", &block));
  ShapeHandle shape;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &shape));
  for (const int axis : {1, 2}) {
    const DimensionHandle side = context->Dim(shape, axis);
    DimensionHandle blocks = context->UnknownDim();
    if constexpr (kForm == 1) {
      TF_RETURN_IF_ERROR(context->Divide(side, block, false, &blocks));
    } else if (context->ValueKnown(side)) {
      blocks = context->MakeDim(Blocks(context->Value(side), block));
    }
    TF_RETURN_IF_ERROR(context->ReplaceDim(shape, axis, blocks, &shape));
  }
  context->set_output(0, shape);
  return absl::OkStatus();
}

template <typename T>
class BlockMeanOp : public OpKernel {
 public:
  explicit BlockMeanOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("block", &block_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& images = context->input(0);
    OP_REQUIRES(context, images.dims() == 4,
                absl::InvalidArgumentError(
                    absl::StrCat("images must have 4 axes, but has the shape ",
                                 images.shape().DebugString())));
    const int64_t height = images.dim_size(1);
    const int64_t width = images.dim_size(2);
    Tensor* means = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0,
                                {images.dim_size(0), Blocks(height, block_),
                                 Blocks(width, block_), images.dim_size(3)},
                                &means));
    if (means->NumElements() == 0) return;
    const KeepSubnormals keep;
    const auto in = images.tensor<T, 4>();
    auto out = means->tensor<T, 4>();
    for (int64_t n = 0; n < out.dimension(0); ++n) {
      for (int64_t i = 0; i < out.dimension(1); ++i) {
        const int64_t top = i * block_;
        const int64_t rows = std::min(block_, height - top);
        for (int64_t j = 0; j < out.dimension(2); ++j) {
          const int64_t left = j * block_;
          const int64_t columns = std::min(block_, width - left);
          for (int64_t c = 0; c < out.dimension(3); ++c) {
            double sum = 0;
            for (int64_t y = top; y < top + rows; ++y) {
              for (int64_t x = left; x < left + columns; ++x) {
                sum += in(n, y, x, c);
              }
            }
            out(n, i, j, c) =
                static_cast<T>(sum / static_cast<double>(rows * columns));
          }
        }
      }
    }
  }

 private:
  int64_t block_;
};

#define XD_BLOCK_MEAN(NAME, FORM)                                \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("block: int >= 1 = 2")                               \
      .Input("images: T")                                        \
      .Output("means: T")                                        \
      .SetShapeFn(BlockMeanShape<FORM>);                         \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      BlockMeanOp<float>);                                       \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      BlockMeanOp<double>)

XD_BLOCK_MEAN("XdBlockMeanBad", 1);
XD_BLOCK_MEAN("XdBlockMeanGood", 2);

}  // namespace
}  // namespace xd
