// The kernels of the ops that shape_functions.cc declares.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

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

absl::Status HasRank(int rank, const char* name, const Tensor& tensor) {
  if (tensor.dims() == rank) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " must have rank ", rank,
                                                 ", got shape ",
                                                 tensor.shape().DebugString()));
}

// [check] Eagerly nobody has looked at the shapes before Compute does.
class MatVecOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& matrix = context->input(0);
    const Tensor& vector = context->input(1);
    OP_REQUIRES_OK(context, HasRank(2, "matrix", matrix));
    OP_REQUIRES_OK(context, HasRank(1, "vector", vector));
    const int64_t rows = matrix.dim_size(0), columns = matrix.dim_size(1);
    OP_REQUIRES(context, vector.dim_size(0) == columns,
                absl::InvalidArgumentError(absl::StrCat(
                    "vector must have as many elements as matrix has columns, ",
                    columns, ", got ", vector.dim_size(0))));
    Tensor* product = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, TensorShape({rows}), &product));

    const float* row = matrix.flat<float>().data();
    const float* v = vector.flat<float>().data();
    auto out = product->vec<float>();
    for (int64_t r = 0; r < rows; ++r, row += columns) {
      out(r) = std::inner_product(row, row + columns, v, 0.0f);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("MatVec").Device(DEVICE_CPU), MatVecOp);

// [kernel] The other ops of the chapter.
class RgbToGrayOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& rgb = context->input(0);
    TensorShape shape = rgb.shape();
    OP_REQUIRES(context, shape.dims() >= 1 && rgb.dim_size(rgb.dims() - 1) == 3,
                absl::InvalidArgumentError(
                    absl::StrCat("the last dimension of rgb must be 3, "
                                 "got shape ",
                                 shape.DebugString())));
    shape.set_dim(shape.dims() - 1, 1);
    Tensor* gray = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &gray));

    const float* in = rgb.flat<float>().data();
    auto out = gray->flat<float>();
    for (int64_t i = 0; i < out.size(); ++i, in += 3) {
      out(i) = 0.2989f * in[0] + 0.587f * in[1] + 0.114f * in[2];
    }
  }
};

class DirectSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES_OK(context, HasRank(2, "a", a));
    OP_REQUIRES_OK(context, HasRank(2, "b", b));
    const int64_t rows =
        tensorflow::AddWithoutOverflow(a.dim_size(0), b.dim_size(0));
    const int64_t columns =
        tensorflow::AddWithoutOverflow(a.dim_size(1), b.dim_size(1));
    OP_REQUIRES(
        context, rows >= 0 && columns >= 0,
        absl::InvalidArgumentError(absl::StrCat(
            "the direct sum must have dimensions below 2^63, got a of ",
            a.shape().DebugString(), " and b of ", b.shape().DebugString())));
    TensorShape shape;
    OP_REQUIRES_OK(context,
                   TensorShape::BuildTensorShape({rows, columns}, &shape));
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &sum));

    auto out = sum->matrix<float>();
    std::fill_n(out.data(), out.size(), 0.0f);
    Place(a.matrix<float>(), 0, 0, out);
    Place(b.matrix<float>(), a.dim_size(0), a.dim_size(1), out);
  }

 private:
  static void Place(tensorflow::TTypes<float>::ConstMatrix from, int64_t top,
                    int64_t left, tensorflow::TTypes<float>::Matrix to) {
    if (from.size() == 0) return;
    for (int64_t r = 0; r < from.dimension(0); ++r) {
      std::copy_n(&from(r, 0), from.dimension(1), &to(top + r, left));
    }
  }
};

class KroneckerProductOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES_OK(context, HasRank(2, "a", a));
    OP_REQUIRES_OK(context, HasRank(2, "b", b));
    const int64_t rows =
        tensorflow::MultiplyWithoutOverflow(a.dim_size(0), b.dim_size(0));
    const int64_t columns =
        tensorflow::MultiplyWithoutOverflow(a.dim_size(1), b.dim_size(1));
    OP_REQUIRES(
        context, rows >= 0 && columns >= 0,
        absl::InvalidArgumentError(absl::StrCat(
            "the product must have dimensions below 2^63, got a of ",
            a.shape().DebugString(), " and b of ", b.shape().DebugString())));
    TensorShape shape;
    OP_REQUIRES_OK(context,
                   TensorShape::BuildTensorShape({rows, columns}, &shape));
    Tensor* product = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &product));

    if (product->NumElements() == 0) return;
    const auto left = a.matrix<float>(), right = b.matrix<float>();
    float* out = product->flat<float>().data();
    for (int64_t i = 0; i < a.dim_size(0); ++i) {
      for (int64_t k = 0; k < b.dim_size(0); ++k) {
        for (int64_t j = 0; j < a.dim_size(1); ++j) {
          for (int64_t l = 0; l < b.dim_size(1); ++l) {
            *out++ = left(i, j) * right(k, l);
          }
        }
      }
    }
  }
};

class ElementwiseMedianOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const int count = context->num_inputs();
    const TensorShape& shape = context->input(0).shape();
    std::vector<const float*> inputs;
    for (int i = 0; i < count; ++i) {
      const Tensor& input = context->input(i);
      OP_REQUIRES(
          context, input.shape() == shape,
          absl::InvalidArgumentError(absl::StrCat(
              "inputs[", i, "] must have the shape of inputs[0], ",
              shape.DebugString(), ", got ", input.shape().DebugString())));
      inputs.push_back(input.flat<float>().data());
    }
    Tensor* median = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &median));

    auto out = median->flat<float>();
    std::vector<float> values(count);
    for (int64_t i = 0; i < out.size(); ++i) {
      for (int n = 0; n < count; ++n) values[n] = inputs[n][i];
      out(i) = Median(values);
    }
  }

 private:
  // NaN has no place in an order, and nth_element may go astray on it.
  static float Median(std::vector<float>& values) {
    for (const float value : values) {
      if (std::isnan(value)) return value;
    }
    const auto middle = values.begin() + values.size() / 2;
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
  }
};

// Zeros, and in their corner what both shapes have, in rows.
class Corner {
 public:
  Corner(const TensorShape& from, const TensorShape& to) {
    int last = from.dims() - 1;  // of those that differ: the rest is one row
    int64_t in = 1;
    for (; last > 0 && from.dim_size(last) == to.dim_size(last); --last) {
      in *= from.dim_size(last);
    }
    int64_t out = in;
    dimensions_.resize(last + 1);
    for (int d = last; d >= 0; --d) {
      dimensions_[d] = {std::min(from.dim_size(d), to.dim_size(d)), in, out};
      in *= from.dim_size(d);
      out *= to.dim_size(d);
    }
  }

  void Copy(const float* in, float* out, size_t d = 0) const {
    const auto [kept, in_stride, out_stride] = dimensions_[d];
    if (d + 1 == dimensions_.size()) {
      std::copy_n(in, kept * in_stride, out);
      return;
    }
    for (int64_t i = 0; i < kept; ++i) {
      Copy(in + i * in_stride, out + i * out_stride, d + 1);
    }
  }

 private:
  struct Dimension {
    int64_t kept, in_stride, out_stride;
  };
  std::vector<Dimension> dimensions_;
};

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
    if (shape.dims() == 0) {
      out(0) = in(0);
      return;
    }
    Corner(input.shape(), shape).Copy(in.data(), out.data());
  }
};

class UnitImpulseOp : public OpKernel {
 public:
  explicit UnitImpulseOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("size", &size_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& position = context->input(0);
    OP_REQUIRES_OK(context, HasRank(1, "position", position));
    const int64_t rank = position.dim_size(0);
    OP_REQUIRES(context, rank <= TensorShape::MaxDimensions(),
                absl::InvalidArgumentError(absl::StrCat(
                    "position must have at most ", TensorShape::MaxDimensions(),
                    " elements, got ", rank)));
    TensorShape shape;
    OP_REQUIRES(
        context,
        TensorShape::BuildTensorShape(std::vector<int64_t>(rank, size_), &shape)
            .ok(),
        absl::InvalidArgumentError(
            absl::StrCat("size must leave fewer than 2^63 elements, got ",
                         size_, " in each of ", rank, " dimensions")));
    int64_t one = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t index = position.vec<int64_t>()(d);
      OP_REQUIRES(context, 0 <= index && index < size_,
                  absl::InvalidArgumentError(
                      absl::StrCat("position[", d, "] must be from 0 to ",
                                   size_ - 1, ", got ", index)));
      one = one * size_ + index;
    }
    Tensor* impulse = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &impulse));

    auto out = impulse->flat<float>();
    std::fill_n(out.data(), out.size(), 0.0f);
    out(one) = 1.0f;
  }

 private:
  int64_t size_;
};

REGISTER_KERNEL_BUILDER(Name("RgbToGray").Device(DEVICE_CPU), RgbToGrayOp);
REGISTER_KERNEL_BUILDER(Name("DirectSum").Device(DEVICE_CPU), DirectSumOp);
REGISTER_KERNEL_BUILDER(Name("KroneckerProduct").Device(DEVICE_CPU),
                        KroneckerProductOp);
REGISTER_KERNEL_BUILDER(Name("ElementwiseMedian").Device(DEVICE_CPU),
                        ElementwiseMedianOp);
REGISTER_KERNEL_BUILDER(Name("CropOrPad").Device(DEVICE_CPU), CropOrPadOp);
REGISTER_KERNEL_BUILDER(Name("UnitImpulse").Device(DEVICE_CPU), UnitImpulseOp);

}  // namespace
}  // namespace op_by_op
