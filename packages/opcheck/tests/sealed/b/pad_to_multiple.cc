#include <algorithm>
#include <limits>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbPadToMultiple")
    .Input("images: T")
    .Output("padded: T")
    .Attr("T: {uint8, float, double}")
    .Attr("multiple: int >= 1 = 32")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle images;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &images));
      int64_t multiple;
      TF_RETURN_IF_ERROR(c->GetAttr("multiple", &multiple));
      for (int d = 1; d <= 2; ++d) {
        DimensionHandle size = c->Dim(images, d);
#ifdef TWIN
        TF_RETURN_IF_ERROR(c->Add(size, multiple - 1, &size));
        TF_RETURN_IF_ERROR(
            c->Divide(size, multiple, /*evenly_divisible=*/false, &size));
        TF_RETURN_IF_ERROR(c->Multiply(size, multiple, &size));
#else
        TF_RETURN_IF_ERROR(
            c->Divide(size, multiple, /*evenly_divisible=*/false, &size));
        TF_RETURN_IF_ERROR(c->Add(size, 1, &size));
        TF_RETURN_IF_ERROR(c->Multiply(size, multiple, &size));
#endif
        TF_RETURN_IF_ERROR(c->ReplaceDim(images, d, size, &images));
      }
      c->set_output(0, images);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Pads images with zeros at the bottom and right until height and width are multiples of `multiple`.

images: [batch, height, width, channels].
padded: [batch, padded_height, padded_width, channels].
multiple: As the stride of a network requires.
)doc");

template <typename T>
class UbPadToMultipleOp : public OpKernel {
 public:
  explicit UbPadToMultipleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("multiple", &multiple_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& images_t = ctx->input(0);
    OP_REQUIRES(ctx, images_t.dims() == 4,
                Invalid("images must have rank 4, got shape ",
                        images_t.shape().DebugString()));
    const int64_t height = images_t.dim_size(1);
    const int64_t width = images_t.dim_size(2);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::BuildTensorShape(
                            {images_t.dim_size(0), RoundUp(height),
                             RoundUp(width), images_t.dim_size(3)},
                            &shape));
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out_t));
    const auto images = images_t.tensor<T, 4>();
    auto out = out_t->tensor<T, 4>();
    out.setZero();
    const int64_t row = width * images_t.dim_size(3);
    if (row == 0) return;
    for (int64_t b = 0; b < images_t.dim_size(0); ++b) {
      for (int64_t y = 0; y < height; ++y)
        std::copy_n(&images(b, y, 0, 0), row, &out(b, y, 0, 0));
    }
  }

 private:
  // Refused as a negative size if it does not fit.
  int64_t RoundUp(int64_t size) const {
    const int64_t rest = size % multiple_;
    if (rest == 0) return size;
    return size > std::numeric_limits<int64_t>::max() - (multiple_ - rest)
               ? -1
               : size + (multiple_ - rest);
  }

  int64_t multiple_;
};

#define REGISTER(T)                                                      \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("UbPadToMultiple").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      UbPadToMultipleOp<T>)
REGISTER(uint8_t);
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace tensorflow
