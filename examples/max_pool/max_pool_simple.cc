// MaxPoolSimple: the maximum of each window of an image, by a plain loop.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/padding.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

REGISTER_OP("MaxPoolSimple")
    .Attr("ksize: int >= 1")
    .Attr("strides: int >= 1")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn([](InferenceContext* context) {
      int32_t ksize, strides;
      tensorflow::Padding padding;
      TF_RETURN_IF_ERROR(context->GetAttr("ksize", &ksize));
      TF_RETURN_IF_ERROR(context->GetAttr("strides", &strides));
      TF_RETURN_IF_ERROR(context->GetAttr("padding", &padding));
      ShapeHandle output;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &output));
      for (int axis : {1, 2}) {
        DimensionHandle size = context->Dim(output, axis);
        TF_RETURN_IF_ERROR(
            tensorflow::shape_inference::GetWindowedOutputSizeFromDims(
                context, size, ksize, strides, padding, &size));
        TF_RETURN_IF_ERROR(context->ReplaceDim(output, axis, size, &output));
      }
      context->set_output(0, output);
      return absl::OkStatus();
    });

class MaxPoolSimpleOp : public tensorflow::OpKernel {
 public:
  explicit MaxPoolSimpleOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("ksize", &ksize_));
    OP_REQUIRES_OK(context, context->GetAttr("strides", &strides_));
    OP_REQUIRES_OK(context, context->GetAttr("padding", &padding_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(context, input.dims() == 4,
                absl::InvalidArgumentError(absl::StrCat(
                    "input must have shape [batch, height, width, channels], "
                    "got shape ",
                    input.shape().DebugString())));
    const int64_t batch = input.dim_size(0), height = input.dim_size(1);
    const int64_t width = input.dim_size(2), channels = input.dim_size(3);
    OP_REQUIRES(
        context,
        padding_ == tensorflow::SAME || std::min(height, width) >= ksize_,
        absl::InvalidArgumentError(absl::StrCat(
            "input must have at least ", ksize_,
            " rows and columns, as many as the window, with VALID padding, "
            "got shape ",
            input.shape().DebugString())));

    // How many windows fit, and how far the first reaches over the edge.
    int64_t rows, columns, above, left, unused;
    OP_REQUIRES_OK(context, tensorflow::GetWindowedOutputSizeVerbose(
                                height, ksize_, /*dilation_rate=*/1, strides_,
                                padding_, &rows, &above, &unused));
    OP_REQUIRES_OK(context, tensorflow::GetWindowedOutputSizeVerbose(
                                width, ksize_, /*dilation_rate=*/1, strides_,
                                padding_, &columns, &left, &unused));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, {batch, rows, columns, channels}, &output));
    if (output->NumElements() == 0) return;
    const float* x = input.flat<float>().data();
    float* y = output->flat<float>().data();

    // [loop] Row i of the output, counted through all images.
    const auto pool_row = [&](int64_t i) {
      const float* image = x + i / rows * height * width * channels;
      const int64_t top = i % rows * strides_ - above;
      const int64_t end_h = std::min(top + ksize_, height);
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t side = j * strides_ - left;
        const int64_t end_w = std::min(side + ksize_, width);
        float* best = y + (i * columns + j) * channels;
        std::fill_n(best, channels, std::numeric_limits<float>::lowest());
        for (int64_t h = std::max<int64_t>(top, 0); h < end_h; ++h) {
          for (int64_t w = std::max<int64_t>(side, 0); w < end_w; ++w) {
            const float* pixel = image + (h * width + w) * channels;
            for (int64_t c = 0; c < channels; ++c) {
              if (best[c] < pixel[c]) best[c] = pixel[c];
            }
          }
        }
      }
    };

    // [threads] Threads share the rows; each number of a window takes a cycle
    // or less.
    const int64_t numbers = columns * channels *
                            std::min<int64_t>(ksize_, height) *
                            std::min<int64_t>(ksize_, width);
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, batch * rows,
                      /*cost_per_unit=*/numbers,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) pool_row(i);
                      });
  }

 private:
  int32_t ksize_, strides_;
  tensorflow::Padding padding_;
};
REGISTER_KERNEL_BUILDER(Name("MaxPoolSimple").Device(tensorflow::DEVICE_CPU),
                        MaxPoolSimpleOp);

}  // namespace
}  // namespace op_by_op
