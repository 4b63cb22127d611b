// Ops with what authors of ops are in the habit of forgetting: what a sample
// call does not show. broken_ops.py registers the gradient.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "common.h"

// Each op is registered twice from one template, right and with its one bug.
// SHAPE and KERNEL are templates of `bool bug`; what follows them is the
// interface.
#define OP_PAIR(NAME, BUG, SHAPE, ...)                    \
  REGISTER_OP(NAME) __VA_ARGS__.SetShapeFn(SHAPE<false>); \
  REGISTER_OP("Broken" NAME BUG) __VA_ARGS__.SetShapeFn(SHAPE<true>)

#define PAIR(NAME, BUG, KERNEL, SHAPE, ...)                          \
  OP_PAIR(NAME, BUG, SHAPE, __VA_ARGS__);                            \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          KERNEL<false>);                            \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("Broken" NAME BUG).Device(tensorflow::DEVICE_CPU), KERNEL<true>)

// For a kernel that is a template of a type, too.
#define KERNEL_PAIR(NAME, BUG, T, KERNEL)     \
  OP_BY_OP_KERNEL(NAME, T, KERNEL<T, false>); \
  OP_BY_OP_KERNEL("Broken" NAME BUG, T, KERNEL<T, true>)

namespace op_by_op {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

template <bool>
absl::Status FirstShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}

template <bool>
absl::Status Scalar(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <bool bug>
class ChannelBiasOp : public OpKernel {
 public:
  explicit ChannelBiasOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("data_format", &format_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& bias = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 4));
    OP_REQUIRES_OK(context, HasRank(bias, "bias", 1));
    const bool last = format_ == "NHWC";
    const int64_t channels = x.dim_size(last ? 3 : 1);
    OP_REQUIRES(context, bias.dim_size(0) == channels,
                Invalid("bias must have one element for each of the ", channels,
                        " channels, not ", bias.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    int64_t inner = 1;
    if (!last) inner = bug ? x.dim_size(3) : x.dim_size(2) * x.dim_size(3);
    const auto in = x.flat<float>();
    const auto b = bias.vec<float>();
    auto out = y->flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = in(i) + b(i / inner % channels);
    }
  }

 private:
  std::string format_;
};

template <bool>
absl::Status ChannelBiasShape(InferenceContext* c) {
  ShapeHandle x, bias;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 4, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "bias", 1, &bias));
  c->set_output(0, x);
  return absl::OkStatus();
}

PAIR("ChannelBias", "Stride", ChannelBiasOp, ChannelBiasShape,
     .Input("x: float")
         .Input("bias: float")
         .Output("y: float")
         .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'"));

template <bool bug>
class RmsScaleOp : public OpKernel {
 public:
  explicit RmsScaleOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES(c, epsilon_ > 0,
                Invalid("epsilon must be positive, not ", epsilon_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& scale = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(scale, "scale", 1));
    const int64_t depth = x.dim_size(1);
    OP_REQUIRES(context, scale.dim_size(0) == depth,
                Invalid("scale must have ", depth, " elements, not ",
                        scale.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.matrix<float>();
    const auto factor = scale.vec<float>();
    auto out = y->matrix<float>();
    const double epsilon = bug ? 1e-6 : epsilon_;
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      double squares = 0;
      for (int64_t j = 0; j < depth; ++j) {
        squares += static_cast<double>(in(i, j)) * in(i, j);
      }
      const double root =
          std::sqrt(squares / static_cast<double>(depth) + epsilon);
      for (int64_t j = 0; j < depth; ++j) {
        out(i, j) = static_cast<float>(in(i, j) / root * factor(j));
      }
    }
  }

 private:
  float epsilon_;
};

template <bool>
absl::Status RmsScaleShape(InferenceContext* c) {
  ShapeHandle x, scale;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "scale", 1, &scale));
  c->set_output(0, x);
  return absl::OkStatus();
}

PAIR("RmsScale", "Epsilon", RmsScaleOp, RmsScaleShape,
     .Input("x: float")
         .Input("scale: float")
         .Output("y: float")
         .Attr("epsilon: float = 1e-6"));

template <bool bug>
class ScaleColumnsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& scale = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    OP_REQUIRES_OK(context, HasRank(scale, "scale", 1));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, scale.dim_size(0) == 1 || scale.dim_size(0) == columns,
                Invalid("scale must have 1 or ", columns, " elements, not ",
                        scale.dim_size(0)));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const float* in = x.flat<float>().data();
    const float* factor = scale.flat<float>().data();
    float* out = y->flat<float>().data();
    const bool single = !bug && scale.dim_size(0) == 1;
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      out[i] = in[i] * factor[single ? 0 : i % columns];
    }
  }
};

PAIR("ScaleColumns", "Single", ScaleColumnsOp, RmsScaleShape,
     .Input("x: float").Input("scale: float").Output("y: float"));

template <typename T, bool bug>
class AverageRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, columns > 0, Invalid("x must have a column"));
    Tensor* means = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(0)}, &means));
    using Sum = std::conditional_t<bug, T, double>;
    const auto in = x.matrix<T>();
    auto out = means->vec<T>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      Sum sum{0};
      for (int64_t j = 0; j < columns; ++j) sum += static_cast<Sum>(in(i, j));
      out(i) = static_cast<T>(sum / static_cast<Sum>(columns));
    }
  }
};

template <bool>
absl::Status AverageRowsShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  c->set_output(0, c->Vector(c->Dim(x, 0)));
  return absl::OkStatus();
}

OP_PAIR("AverageRows", "InHalf", AverageRowsShape,
        .Attr("T: {half, float}").Input("x: T").Output("means: T"));
KERNEL_PAIR("AverageRows", "InHalf", float, AverageRowsOp);
KERNEL_PAIR("AverageRows", "InHalf", Eigen::half, AverageRowsOp);

template <bool>
class PadToOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& size = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    OP_REQUIRES_OK(context, HasRank(size, "size", 0));
    const int64_t count = size.scalar<int32_t>()();
    OP_REQUIRES(
        context, count >= x.dim_size(0) && count <= 1 << 20,
        Invalid("size must be in [", x.dim_size(0), ", 2**20], not ", count));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {count}, &y));
    float* out = y->vec<float>().data();
    std::fill_n(std::copy_n(x.vec<float>().data(), x.dim_size(0), out),
                count - x.dim_size(0), 0.0f);
  }
};

template <bool bug>
absl::Status PadToShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &unused));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "size", 0, &unused));
  const Tensor* size = c->input_tensor(1);
  if (!bug && size == nullptr) {
    c->set_output(0, c->Vector(c->UnknownDim()));
    return absl::OkStatus();
  }
  const int32_t count = size->scalar<int32_t>()();
  if (count < 0) return Invalid("size must not be negative, but is ", count);
  c->set_output(0, c->Vector(count));
  return absl::OkStatus();
}

PAIR("PadTo", "NoConstant", PadToOp, PadToShape,
     .Input("x: float").Input("size: int32").Output("y: float"));

template <typename T, bool>
class SoftRampOp : public OpKernel {
 public:
  explicit SoftRampOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("beta", &beta_));
    OP_REQUIRES(c, beta_ > 0, Invalid("beta must be positive, not ", beta_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    const double beta = beta_;
    for (int64_t i = 0; i < in.size(); ++i) {
      const double z = beta * in(i);
      const double ramp = std::isnan(z) ? z : std::max(z, 0.0);
      out(i) =
          static_cast<T>((ramp + std::log1p(std::exp(-std::abs(z)))) / beta);
    }
  }

 private:
  float beta_;
};

OP_PAIR("SoftRamp", "Default", FirstShape,
        .Attr("T: {float, double}")
            .Input("x: T")
            .Output("y: T")
            .Attr("beta: float = 1.0"));
KERNEL_PAIR("SoftRamp", "Default", float, SoftRampOp);
KERNEL_PAIR("SoftRamp", "Default", double, SoftRampOp);

template <bool>
absl::Status VectorShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &x));
  c->set_output(0, x);
  return absl::OkStatus();
}

template <bool bug>
class HannWindowOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.vec<float>();
    auto out = y->vec<float>();
    const int64_t size = in.size();
    if constexpr (bug) {
      static std::mutex mutex;
      static std::vector<double> window;
      const std::lock_guard<std::mutex> lock(mutex);
      if (static_cast<int64_t>(window.size()) < size) {
        window.resize(size);
        for (int64_t i = 0; i < size; ++i) window[i] = Window(i, size);
      }
      for (int64_t i = 0; i < size; ++i) {
        out(i) = static_cast<float>(in(i) * window[i]);
      }
    } else {
      for (int64_t i = 0; i < size; ++i) {
        out(i) = static_cast<float>(in(i) * Window(i, size));
      }
    }
  }

 private:
  static double Window(int64_t i, int64_t size) {
    return 0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) /
                                static_cast<double>(size));
  }
};

PAIR("HannWindow", "Kept", HannWindowOp, VectorShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class SumOfNumbersOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    Tensor x = context->input(0);
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &sum));
    auto in = x.flat<float>();
    double total = 0;
    for (int64_t i = 0; i < in.size(); ++i) {
      if constexpr (bug) {
        if (std::isnan(in(i))) in(i) = 0;
        total += in(i);
      } else {
        if (!std::isnan(in(i))) total += in(i);
      }
    }
    sum->scalar<float>()() = static_cast<float>(total);
  }
};

PAIR("SumOfNumbers", "Replaces", SumOfNumbersOp, Scalar,
     .Input("x: float").Output("sum: float"));

template <bool bug>
class DotFourOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& y = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    OP_REQUIRES_OK(context, HasRank(y, "y", 1));
    OP_REQUIRES(context, x.shape() == y.shape(),
                Invalid("x and y must have one size, not ", x.dim_size(0),
                        " and ", y.dim_size(0)));
    Tensor* product = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &product));
    const float* a = x.flat<float>().data();
    const float* b = y.flat<float>().data();
    const int64_t size = x.NumElements();
    double sums[4] = {};
    for (int64_t i = 0; i < size; i += 4) {
      float fours[2][4] = {};
      const int64_t left = std::min<int64_t>(4, size - i);
      const size_t bytes = (bug ? 4 : left) * sizeof(float);
      std::memcpy(fours[0], a + i, bytes);
      std::memcpy(fours[1], b + i, bytes);
      for (int64_t k = 0; k < left; ++k) {
        sums[k] += static_cast<double>(fours[0][k]) * fours[1][k];
      }
    }
    product->scalar<float>()() =
        static_cast<float>(sums[0] + sums[1] + sums[2] + sums[3]);
  }
};

template <bool>
absl::Status DotFourShape(InferenceContext* c) {
  ShapeHandle x, y, both;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "y", 1, &y));
  if (!c->Merge(x, y, &both).ok()) return Invalid("x and y must have one size");
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

PAIR("DotFour", "PastEnd", DotFourOp, DotFourShape,
     .Input("x: float").Input("y: float").Output("product: float"));

absl::Status CheckWindow(const std::vector<int64_t>& window) {
  if (window.size() == 2 && window[0] >= 1 && window[1] >= 1) {
    return absl::OkStatus();
  }
  return Invalid("window must be two positive numbers");
}

template <bool bug>
class PoolWindowOp : public OpKernel {
 public:
  explicit PoolWindowOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("window", &window_));
    OP_REQUIRES_OK(c, CheckWindow(window_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t tall = window_[0];
    const int64_t wide = window_[bug ? 0 : 1];
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(
                       0, {x.dim_size(0) / tall, x.dim_size(1) / wide}, &y));
    const auto in = x.matrix<float>();
    auto out = y->matrix<float>();
    for (int64_t i = 0; i < out.dimension(0); ++i) {
      for (int64_t j = 0; j < out.dimension(1); ++j) {
        float best = in(i * tall, j * wide);
        for (int64_t a = 0; a < tall; ++a) {
          for (int64_t b = 0; b < wide; ++b) {
            const float value = in(i * tall + a, j * wide + b);
            if (value > best || std::isnan(value)) best = value;
          }
        }
        out(i, j) = best;
      }
    }
  }

 private:
  std::vector<int64_t> window_;
};

template <bool bug>
absl::Status PoolWindowShape(InferenceContext* c) {
  ShapeHandle x;
  DimensionHandle rows, columns;
  std::vector<int64_t> window;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  TF_RETURN_IF_ERROR(c->GetAttr("window", &window));
  TF_RETURN_IF_ERROR(CheckWindow(window));
  TF_RETURN_IF_ERROR(c->Divide(c->Dim(x, 0), window[0], false, &rows));
  TF_RETURN_IF_ERROR(
      c->Divide(c->Dim(x, 1), window[bug ? 0 : 1], false, &columns));
  c->set_output(0, c->Matrix(rows, columns));
  return absl::OkStatus();
}

PAIR("PoolWindow", "Square", PoolWindowOp, PoolWindowShape,
     .Input("x: float").Output("y: float").Attr("window: list(int) = [2, 2]"));

template <bool>
class SumFirstAxisOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() >= 1,
                Invalid("x must have rank 1 or more, not 0"));
    tensorflow::TensorShape shape = x.shape();
    shape.RemoveDim(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &y));
    const auto in = x.flat<float>();
    auto out = y->flat<float>();
    for (int64_t j = 0; j < out.size(); ++j) {
      double sum = 0;
      for (int64_t i = j; i < in.size(); i += out.size()) sum += in(i);
      out(j) = static_cast<float>(sum);
    }
  }
};

template <bool bug>
absl::Status SumFirstAxisShape(InferenceContext* c) {
  const ShapeHandle x = c->input(0);
  if (!c->RankKnown(x)) {
    c->set_output(0, bug ? c->Vector(c->UnknownDim()) : c->UnknownShape());
    return absl::OkStatus();
  }
  if (c->Rank(x) == 0) return Invalid("x must have rank 1 or more, not 0");
  ShapeHandle y;
  TF_RETURN_IF_ERROR(c->Subshape(x, 1, &y));
  c->set_output(0, y);
  return absl::OkStatus();
}

PAIR("SumFirstAxis", "Rank", SumFirstAxisOp, SumFirstAxisShape,
     .Input("x: float").Output("y: float"));

}  // namespace
}  // namespace op_by_op
