// TimesRead: how many elements an expression reads for the means of rows.
// RowMean: the means of rows, added up in three ways.
// ScalarAsFloat: an element of another type, read as a float.

#define EIGEN_USE_THREADS

#include <atomic>
#include <cstdint>
#include <string>

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
    const float columns = x.dimension(1);
    const Eigen::IndexList<Eigen::type2index<1>> along_row;
    const Eigen::array<Eigen::Index, 2> column = {x.dimension(0), 1};
    const Eigen::array<Eigen::Index, 2> repeat = {1, x.dimension(1)};
    const auto& device = context->eigen_cpu_device();
    std::atomic<int64_t> count = 0;
    // [auto] Computes nothing yet.
    const auto counted = x.unaryExpr([&](float number) {
      ++count;
      return number;
    });
    const auto mean = (counted.sum(along_row) / columns).reshape(column);
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

REGISTER_OP("RowMean")
    .Attr("way: {'mean, by value', 'mean, by type', 'sum, by type'}")
    .Input("x: float")
    .Output("mean: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->UnknownShapeOfRank(1));
      return absl::OkStatus();
    })
    .Doc(R"doc(
The means of rows.

x: `[rows, columns]`.
mean: `[rows]`.
way: Which reduction, and how its axis is given.
)doc");

class RowMeanOp : public tensorflow::OpKernel {
 public:
  explicit RowMeanOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("way", &way_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(
        context, input.dims() == 2,
        absl::InvalidArgumentError(absl::StrCat(
            "x must be a matrix, got shape ", input.shape().DebugString())));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {input.dim_size(0)}, &output));
    const auto x = input.matrix<float>();
    auto mean = output->vec<float>();
    const float columns = x.dimension(1);
    const auto& device = context->eigen_cpu_device();
    // [ways] The same in mathematics.
    const Eigen::array<int, 1> by_value = {1};
    const Eigen::IndexList<Eigen::type2index<1>> by_type;
    if (way_ == "mean, by value") {
      mean.device(device) = x.mean(by_value);
    } else if (way_ == "mean, by type") {
      mean.device(device) = x.mean(by_type);
    } else {
      mean.device(device) = x.sum(by_type) / columns;
    }
    // But not in float.
  }

 private:
  std::string way_;
};

REGISTER_KERNEL_BUILDER(Name("RowMean").Device(tensorflow::DEVICE_CPU),
                        RowMeanOp);

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
