// CyclicEncoding: where a position lies within a period, as sine and cosine.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

constexpr double kTwoPi = 6.283185307179586;

// Called by the shape function and by the kernel's constructor.
absl::Status CheckPeriod(float period) {
  const tsl::port::ScopedDontFlushDenormal keep;
  if (std::isfinite(period) && period > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("period must be finite and greater than 0, got ", period));
}

// One input, two outputs of the same shape and type.
REGISTER_OP("CyclicEncoding")
    .Attr("period: float")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("sine: T")
    .Output("cosine: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      float period;
      TF_RETURN_IF_ERROR(context->GetAttr("period", &period));
      TF_RETURN_IF_ERROR(CheckPeriod(period));
      context->set_output(0, context->input(0));
      context->set_output(1, context->input(0));
      return absl::OkStatus();
    })
    .Doc("Computes sin and cos of 2 pi x / period for each element.");

// std::remainder is exact. It takes off whole periods before x is multiplied
// by an irrational number, so a large x loses no digits.
template <typename T>
class CyclicEncodingOp : public tensorflow::OpKernel {
 public:
  explicit CyclicEncodingOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("period", &period_));
    OP_REQUIRES_OK(context, CheckPeriod(period_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* sines = nullptr;
    tensorflow::Tensor* cosines = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, input.shape(), &sines));
    OP_REQUIRES_OK(context,
                   context->allocate_output(1, input.shape(), &cosines));

    const tsl::port::ScopedDontFlushDenormal keep;
    const auto x = input.flat<T>();
    auto sine = sines->flat<T>();
    auto cosine = cosines->flat<T>();
    const double period = period_;
    for (int64_t i = 0; i < x.size(); ++i) {
      const double angle =
          kTwoPi * (std::remainder(double{x(i)}, period) / period);
      sine(i) = static_cast<T>(std::sin(angle));
      cosine(i) = static_cast<T>(std::cos(angle));
    }
  }

 private:
  float period_;
};

// One kernel for each type.
REGISTER_KERNEL_BUILDER(Name("CyclicEncoding")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        CyclicEncodingOp<float>);
REGISTER_KERNEL_BUILDER(Name("CyclicEncoding")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        CyclicEncodingOp<double>);

// [gradient] dx = 2 pi / period * (dsine * cosine - dcosine * sine)
absl::Status CyclicEncodingGrad(const tensorflow::AttrSlice& attrs,
                                tensorflow::FunctionDef* function) {
  float period;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attrs, "period", &period));
  tensorflow::DataType type;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attrs, "T", &type));
  tensorflow::Tensor speed(type, {});
  if (type == tensorflow::DT_DOUBLE) {
    speed.scalar<double>()() = kTwoPi / period;
  } else {
    speed.scalar<float>()() = kTwoPi / period;
  }
  *function = tensorflow::FunctionDefHelper::Create(
      "CyclicEncodingGrad", {"x: T", "dsine: T", "dcosine: T"}, {"dx: T"},
      {"T: {float, double}", "period: float"},
      {
          {{"wave"},
           "CyclicEncoding",
           {"x"},
           {{"T", "$T"}, {"period", "$period"}}},
          {{"up"}, "Mul", {"dsine", "wave:cosine:0"}, {{"T", "$T"}}},
          {{"down"}, "Mul", {"dcosine", "wave:sine:0"}, {{"T", "$T"}}},
          {{"turn"}, "Sub", {"up:z:0", "down:z:0"}, {{"T", "$T"}}},
          {{"speed"}, "Const", {}, {{"dtype", type}, {"value", speed}}},
          {{"scaled"}, "Mul", {"turn:z:0", "speed:output:0"}, {{"T", "$T"}}},
      },
      {{"dx", "scaled:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("CyclicEncoding", CyclicEncodingGrad);

}  // namespace
}  // namespace op_by_op
