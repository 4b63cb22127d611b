// Crops the middle of a batch of images.
#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaCenterCrop")
    .Input("images: T")
    .Output("cropped: T")
    .Attr("height: int >= 1")
    .Attr("width: int >= 1")
    .Attr("T: {uint8, int32, half, float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle out;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &out));
      int64_t height, width;
      TF_RETURN_IF_ERROR(c->GetAttr("height", &height));
      TF_RETURN_IF_ERROR(c->GetAttr("width", &width));
#ifdef TWIN
      TF_RETURN_IF_ERROR(c->ReplaceDim(out, 1, c->MakeDim(height), &out));
      TF_RETURN_IF_ERROR(c->ReplaceDim(out, 2, c->MakeDim(width), &out));
#else
      TF_RETURN_IF_ERROR(c->ReplaceDim(out, 1, c->MakeDim(width), &out));
      TF_RETURN_IF_ERROR(c->ReplaceDim(out, 2, c->MakeDim(height), &out));
#endif
      c->set_output(0, out);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Crops the middle of each image. If the margin is odd, the smaller half is cut at the top and at the left.

images: [batch, rows, columns, channels].
cropped: [batch, height, width, channels].
height: Rows to keep, at most the rows of images.
width: Columns to keep, at most the columns of images.
)doc");

template <typename T>
class CenterCropOp : public OpKernel {
 public:
  explicit CenterCropOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("height", &height_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("width", &width_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& images = ctx->input(0);
    OP_REQUIRES(ctx, images.dims() == 4,
                Invalid("images must be four-dimensional, got shape ",
                        images.shape().DebugString()));
    OP_REQUIRES(
        ctx, images.dim_size(1) >= height_ && images.dim_size(2) >= width_,
        Invalid("images must have at least ", height_, " rows and ", width_,
                " columns, got shape ", images.shape().DebugString()));
    TensorShape shape = images.shape();
    OP_REQUIRES_OK(ctx, shape.SetDimWithStatus(1, height_));
    OP_REQUIRES_OK(ctx, shape.SetDimWithStatus(2, width_));
    Tensor* cropped = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &cropped));
    if (shape.num_elements() == 0) return;
    auto in = images.tensor<T, 4>();
    auto out = cropped->tensor<T, 4>();
    const int64_t top = (images.dim_size(1) - height_) / 2;
    const int64_t left = (images.dim_size(2) - width_) / 2;
    const int64_t run = width_ * images.dim_size(3);
    for (int64_t b = 0; b < images.dim_size(0); ++b) {
      for (int64_t y = 0; y < height_; ++y) {
        std::copy_n(&in(b, top + y, left, 0), run, &out(b, y, 0, 0));
      }
    }
  }

 private:
  int64_t height_;
  int64_t width_;
};

#define REGISTER(T)                                                   \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("UaCenterCrop").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CenterCropOp<T>)
REGISTER(uint8_t);
REGISTER(int32_t);
REGISTER(Eigen::half);
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
