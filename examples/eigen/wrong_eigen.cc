// TimesRead: how many elements an expression reads for the means of rows.
// ScalarAsFloat: an element of another type, read as a float.

#define EIGEN_USE_THREADS

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::Tensor;

REGISTER_OP("TimesRead")
    .Attr("kept: bool")
    .Input("x: float")
    .Output("times: int64")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Counts how many elements are read for the means of rows.

x: `[rows, columns]`.
times: How many elements were read.
kept: Whether the means are assigned to a tensor first.
)doc");

class TimesReadOp : public tensorflow::OpKernel {
 public:
  explicit TimesReadOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("kept", &kept_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(
        context, input.dims() == 2,
        absl::InvalidArgumentError(absl::StrCat(
            "x must be a matrix, got shape ", input.shape().DebugString())));
    Tensor centred, scratch, *times = nullptr;
    OP_REQUIRES_OK(context, context->allocate_temp(input.dtype(), input.shape(),
                                                   &centred));
    OP_REQUIRES_OK(context,
                   context->allocate_temp(input.dtype(), {input.dim_size(0), 1},
                                          &scratch));
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &times));
    const auto x = input.matrix<float>();
    auto z = centred.matrix<float>();
    auto of_row = scratch.matrix<float>();
    const Eigen::array<int, 1> along_row = {1};
    const Eigen::array<Eigen::Index, 2> column = {x.dimension(0), 1};
    const Eigen::array<Eigen::Index, 2> repeat = {1, x.dimension(1)};
    const auto& device = context->eigen_cpu_device();
    std::atomic<int64_t> count = 0;
    // [auto] Computes nothing yet.
    const auto counted = x.unaryExpr([&](float number) {
      ++count;
      return number;
    });
    const auto mean = counted.mean(along_row).reshape(column);
    if (kept_) {
      of_row.device(device) = mean;
      z.device(device) = x - of_row.broadcast(repeat);
    } else {
      z.device(device) = x - mean.broadcast(repeat);
    }
    // So often.
    times->scalar<int64_t>()() = count;
  }

 private:
  bool kept_;
};

REGISTER_KERNEL_BUILDER(Name("TimesRead").Device(tensorflow::DEVICE_CPU),
                        TimesReadOp);

REGISTER_OP("ScalarAsFloat")
    .Input("x: int32")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc("Reads the one element of x as if it were a float.");

class ScalarAsFloatOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.NumElements() == 1,
                absl::InvalidArgumentError("x must have one element"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &y));
    y->scalar<float>()() = x.scalar<float>()();
  }
};

REGISTER_KERNEL_BUILDER(Name("ScalarAsFloat").Device(tensorflow::DEVICE_CPU),
                        ScalarAsFloatOp);

}  // namespace
}  // namespace op_by_op
