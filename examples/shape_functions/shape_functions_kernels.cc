// The kernels of the ops that shape_functions.cc declares.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/util/overflow.h"

namespace op_by_op {
namespace {

using tensorflow::DEVICE_CPU;
using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

class CropOrPadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    TensorShape shape;
    const absl::Status valid =
        tensorflow::tensor::MakeShape(context->input(1), &shape);
    OP_REQUIRES(context, valid.ok(),
                absl::InvalidArgumentError(
                    absl::StrCat("shape must hold sizes: ", valid.message())));
    OP_REQUIRES(context, shape.dims() == input.dims(),
                absl::InvalidArgumentError(absl::StrCat(
                    "shape must have one element for each dimension of input, ",
                    input.dims(), ", got ", shape.dims())));
    Tensor* resized = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &resized));

    const auto in = input.flat<float>();
    auto out = resized->flat<float>();
    std::fill_n(out.data(), out.size(), 0.0f);
    if (in.size() == 0 || out.size() == 0) return;

    // Copies what both shapes have over the zeros, row by row. A row is the
    // last dimension that differs, with those behind it.
    int last = shape.dims() - 1;
    int64_t in_row = 1, out_row = 1;
    for (; last >= 0 && in_row == out_row; --last) {
      in_row *= input.dim_size(last);
      out_row *= shape.dim_size(last);
    }
    for (int64_t row = 0; row < out.size() / out_row; ++row) {
      int64_t rest = row, from = 0, stride = 1;
      bool inside = true;
      for (int d = last; d >= 0 && inside; --d) {
        const int64_t at = rest % shape.dim_size(d);
        rest /= shape.dim_size(d);
        inside = at < input.dim_size(d);
        from += at * stride;
        stride *= input.dim_size(d);
      }
      if (inside) {
        std::copy_n(in.data() + from * in_row, std::min(in_row, out_row),
                    out.data() + row * out_row);
      }
    }
  }
};

class CrossFeaturesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    // [check] In eager execution, nothing has checked the shapes yet.
    const Tensor& users = context->input(0);
    const Tensor& items = context->input(1);
    OP_REQUIRES(context,
                users.dims() == 2 && items.dims() == 2 &&
                    users.dim_size(0) == items.dim_size(0),
                absl::InvalidArgumentError(absl::StrCat(
                    "users and items must be matrices with the same number of "
                    "rows, got shapes ",
                    users.shape().DebugString(), " and ",
                    items.shape().DebugString())));

    // [build] Without rows, two inputs of 2^32 columns need no memory.
    const int64_t columns = tensorflow::MultiplyWithoutOverflow(
        users.dim_size(1), items.dim_size(1));
    OP_REQUIRES(context, columns >= 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "products must have fewer than 2^63 columns, got ",
                    users.dim_size(1), " times ", items.dim_size(1))));
    TensorShape shape;
    OP_REQUIRES_OK(context, TensorShape::BuildTensorShape(
                                {users.dim_size(0), columns}, &shape));

    Tensor* products = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &products));

    // For each row, each user's number times each item's.
    const auto user = users.matrix<float>(), item = items.matrix<float>();
    float* out = products->flat<float>().data();
    for (int64_t row = 0; row < user.dimension(0); ++row) {
      for (int64_t i = 0; i < user.dimension(1); ++i) {
        for (int64_t j = 0; j < item.dimension(1); ++j) {
          *out++ = user(row, i) * item(row, j);
        }
      }
    }
  }
};

// One op without a shape function has the same kernel.
REGISTER_KERNEL_BUILDER(Name("CrossFeatures").Device(DEVICE_CPU),
                        CrossFeaturesOp);
REGISTER_KERNEL_BUILDER(Name("SilentCrossFeatures").Device(DEVICE_CPU),
                        CrossFeaturesOp);
REGISTER_KERNEL_BUILDER(Name("CropOrPad").Device(DEVICE_CPU), CropOrPadOp);

}  // namespace
}  // namespace op_by_op
