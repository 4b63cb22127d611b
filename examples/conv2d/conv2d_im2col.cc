// A convolution as a product of matrices, twice: with the patches in memory,
// and as one expression of Eigen's, as in TensorFlow's own kernel.

#define EIGEN_USE_THREADS

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// The ranks; sizes are left to the kernel.
template <int rank>
absl::Status RankOnly(InferenceContext* context) {
  ShapeHandle any;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 4, &any));
  if (context->num_inputs() > 1) {
    TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 4, &any));
  }
  context->set_output(0, context->UnknownShapeOfRank(rank));
  return absl::OkStatus();
}

absl::Status CheckFit(const Tensor& x, const Tensor& filter) {
  if (x.dims() == 4 && filter.dims() == 4 &&
      x.dim_size(3) == filter.dim_size(2) && filter.dim_size(0) > 0 &&
      filter.dim_size(1) > 0 && x.dim_size(1) >= filter.dim_size(0) &&
      x.dim_size(2) >= filter.dim_size(1)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "filter must be [rows, columns, channels, filters], with the channels of "
      "x, and not larger than x, got shapes ",
      x.shape().DebugString(), " and ", filter.shape().DebugString()));
}

// Sizes from inputs can be too large for a tensor: a shape that is made of
// them in braces would end the process.
using Sizes = absl::Span<const int64_t>;

absl::Status AllocateOutput(OpKernelContext* context, Sizes sizes,
                            Tensor** output) {
  TensorShape shape;
  TF_RETURN_IF_ERROR(TensorShape::BuildTensorShape(sizes, &shape));
  return context->allocate_output(0, shape, output);
}

absl::Status AllocateTemp(OpKernelContext* context, Sizes sizes,
                          Tensor* scratch) {
  TensorShape shape;
  TF_RETURN_IF_ERROR(TensorShape::BuildTensorShape(sizes, &shape));
  return context->allocate_temp(tensorflow::DT_FLOAT, shape, scratch);
}

// Whether there is nothing to add; then y is zeros.
bool ZeroIfEmpty(const Tensor& x, const Tensor& filter, Tensor* y) {
  if (x.NumElements() > 0 && filter.NumElements() > 0) return false;
  y->flat<float>().setZero();
  return true;
}

REGISTER_OP("NaiveConv2D")
    .Input("x: float")
    .Input("filter: float")
    .Output("y: float")
    .SetShapeFn(RankOnly<4>)
    .Doc("Convolves images, with stride 1 and no padding, on one thread.");

// [naive] A row of `patches` for each window, then one product.
class NaiveConv2DOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &filter = context->input(1);
    OP_REQUIRES_OK(context, CheckFit(x, filter));
    const int64_t batch = x.dim_size(0), channels = x.dim_size(3);
    const int64_t rows = filter.dim_size(0), columns = filter.dim_size(1);
    const int64_t filters = filter.dim_size(3);
    const int64_t height = x.dim_size(1) - rows + 1;
    const int64_t width = x.dim_size(2) - columns + 1;
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        context, AllocateOutput(context, {batch, height, width, filters}, &y));
    if (ZeroIfEmpty(x, filter, y)) return;

    const auto images = x.tensor<float, 4>();
    const int64_t windows = batch * height * width;
    const int64_t patch = rows * columns * channels;
    Tensor patches;
    OP_REQUIRES_OK(context, AllocateTemp(context, {windows, patch}, &patches));
    float* next = patches.flat<float>().data();
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t h = 0; h < height; ++h)
        for (int64_t w = 0; w < width; ++w)
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
              for (int64_t c = 0; c < channels; ++c)
                *next++ = images(n, h + i, w + j, c);

    const Eigen::array<Eigen::IndexPair<int64_t>, 1> inner = {{{1, 0}}};
    y->shaped<float, 2>({windows, filters}) = patches.matrix<float>().contract(
        filter.shaped<float, 2>({patch, filters}), inner);
  }
};

REGISTER_KERNEL_BUILDER(Name("NaiveConv2D").Device(tensorflow::DEVICE_CPU),
                        NaiveConv2DOp);

// How the windows lie, from TensorFlow's rule for their number.
struct Along {
  int64_t stride, windows, before, after;
};

class EigenOp : public OpKernel {
 public:
  explicit EigenOp(OpKernelConstruction* context) : OpKernel(context) {
    std::string padding;
    OP_REQUIRES_OK(context, context->GetAttr("padding", &padding));
    OP_REQUIRES_OK(context, context->GetAttr("stride", &stride_));
    padding_ = padding == "SAME" ? tensorflow::SAME : tensorflow::VALID;
  }

 protected:
  absl::Status Measure(int64_t size, int64_t taps, Along* side) const {
    side->stride = stride_;
    return tensorflow::GetWindowedOutputSizeVerbose(
        size, taps, /*dilation_rate=*/1, stride_, padding_, &side->windows,
        &side->before, &side->after);
  }

 private:
  int64_t stride_;
  tensorflow::Padding padding_;
};

// [extract] An expression: nothing is computed here. Eigen counts dimensions of
// row-major tensors from behind, so what it calls rows are our columns.
template <typename Images>
auto Extract(const Images& images, int64_t filter_rows, int64_t filter_columns,
             const Along& rows, const Along& columns) {
  return images.extract_image_patches(
      /*patch_rows=*/filter_columns, /*patch_cols=*/filter_rows,
      /*row_stride=*/columns.stride, /*col_stride=*/rows.stride,
      /*in_row_stride=*/1, /*in_col_stride=*/1,            // dilations
      /*row_inflate_stride=*/1, /*col_inflate_stride=*/1,  // zeros in x
      /*padding_top=*/columns.before, /*padding_bottom=*/columns.after,
      /*padding_left=*/rows.before, /*padding_right=*/rows.after,
      /*padding_value=*/0.0f);
}

// An op for what this returns.
REGISTER_OP("EigenPatches")
    .Input("x: float")
    .Attr("rows: int >= 1")
    .Attr("columns: int >= 1")
    .Attr("stride: int >= 1 = 1")
    .Attr("padding: {'SAME', 'VALID'} = 'VALID'")
    .Output("patches: float")
    .SetShapeFn(RankOnly<5>)
    .Doc("What extract_image_patches makes of images.");

class EigenPatchesOp : public EigenOp {
 public:
  explicit EigenPatchesOp(OpKernelConstruction* context) : EigenOp(context) {
    OP_REQUIRES_OK(context, context->GetAttr("rows", &rows_));
    OP_REQUIRES_OK(context, context->GetAttr("columns", &columns_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(
        context,
        x.dims() == 4 && rows_ <= x.dim_size(1) && columns_ <= x.dim_size(2),
        absl::InvalidArgumentError(absl::StrCat(
            "x must be [batch, rows, columns, channels] and as large as a "
            "patch, rows = ",
            rows_, " and columns = ", columns_, ", got shape ",
            x.shape().DebugString())));
    Along rows, columns;
    OP_REQUIRES_OK(context, Measure(x.dim_size(1), rows_, &rows));
    OP_REQUIRES_OK(context, Measure(x.dim_size(2), columns_, &columns));
    Tensor* patches = nullptr;
    OP_REQUIRES_OK(
        context, AllocateOutput(context,
                                {x.dim_size(0), rows.windows * columns.windows,
                                 rows_, columns_, x.dim_size(3)},
                                &patches));
    if (patches->NumElements() == 0) return;
    patches->tensor<float, 5>().device(context->eigen_cpu_device()) =
        Extract(x.tensor<float, 4>(), rows_, columns_, rows, columns);
  }

 private:
  int64_t rows_, columns_;
};

REGISTER_KERNEL_BUILDER(Name("EigenPatches").Device(tensorflow::DEVICE_CPU),
                        EigenPatchesOp);

REGISTER_OP("EigenConv2D")
    .Input("x: float")
    .Input("filter: float")
    .Attr("stride: int >= 1 = 1")
    .Attr("padding: {'SAME', 'VALID'} = 'VALID'")
    .Output("y: float")
    .SetShapeFn(RankOnly<4>)
    .Doc("Convolves images, by one expression.");

class EigenConv2DOp : public EigenOp {
 public:
  using EigenOp::EigenOp;

  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &filter = context->input(1);
    OP_REQUIRES_OK(context, CheckFit(x, filter));
    const int64_t batch = x.dim_size(0), filters = filter.dim_size(3);
    const int64_t patch =
        filter.dim_size(0) * filter.dim_size(1) * filter.dim_size(2);
    Along rows, columns;
    OP_REQUIRES_OK(context, Measure(x.dim_size(1), filter.dim_size(0), &rows));
    OP_REQUIRES_OK(context,
                   Measure(x.dim_size(2), filter.dim_size(1), &columns));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        context,
        AllocateOutput(context, {batch, rows.windows, columns.windows, filters},
                       &y));
    if (ZeroIfEmpty(x, filter, y)) return;
    // [expression] extract, reshape, contract, reshape.
    using Sizes2 = Eigen::DSizes<Eigen::Index, 2>;
    using Sizes4 = Eigen::DSizes<Eigen::Index, 4>;
    const Eigen::array<Eigen::IndexPair<Eigen::Index>, 1> inner = {{{1, 0}}};
    y->tensor<float, 4>().device(context->eigen_cpu_device()) =
        Extract(x.tensor<float, 4>(), filter.dim_size(0), filter.dim_size(1),
                rows, columns)
            .reshape(Sizes2(batch * rows.windows * columns.windows, patch))
            .contract(filter.tensor<float, 4>().reshape(Sizes2(patch, filters)),
                      inner)
            .reshape(Sizes4(batch, rows.windows, columns.windows, filters));
  }
};

// For float, as all here.
REGISTER_KERNEL_BUILDER(Name("EigenConv2D").Device(tensorflow::DEVICE_CPU),
                        EigenConv2DOp);

}  // namespace
}  // namespace op_by_op
