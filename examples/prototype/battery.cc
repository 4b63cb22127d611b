// Battery: the level of a battery that is charged and drained, and BatteryGrad,
// which its gradient calls.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

REGISTER_OP("Battery")
    .Attr("T: {float, double}")
    .Input("flow: T")
    .Input("capacity: T")
    .Output("level: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle flow, scalar;
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(context->input(0), 1, &flow));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 0, &scalar));
      context->set_output(0, flow);
      return absl::OkStatus();
    })
    // For help().
    .Doc(R"doc(
The level of a battery after each hour. It begins empty, and is never emptier
than 0 nor fuller than capacity.

flow: What is charged in each hour, negative where it is drained: [..., hours].
capacity: How much the battery holds, a scalar that is not negative.
level: A tensor of the shape of flow.
)doc");

REGISTER_OP("BatteryGrad")
    .Attr("T: {float, double}")
    .Input("level_grad: T")
    .Input("level: T")
    .Input("capacity: T")
    .Output("flow_grad: T")
    .Output("capacity_grad: T")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle level, scalar;
      TF_RETURN_IF_ERROR(
          context->Merge(context->input(0), context->input(1), &level));
      TF_RETURN_IF_ERROR(context->WithRankAtLeast(level, 1, &level));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(2), 0, &scalar));
      context->set_output(0, level);
      context->set_output(1, scalar);
      return absl::OkStatus();
    });

// Of a tensor [..., hours] and a capacity.
absl::Status Check(const char* name, const Tensor& hours,
                   const Tensor& capacity) {
  if (hours.dims() == 0 || capacity.dims() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " must have at least one dimension and capacity none, got ",
        hours.shape().DebugString(), " and ", capacity.shape().DebugString()));
  }
  return absl::OkStatus();
}

// [kernel] The loop of NumPy, one row after the other.
template <typename T>
class BatteryOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& flow = context->input(0);
    OP_REQUIRES_OK(context, Check("flow", flow, context->input(1)));
    const T capacity = context->input(1).scalar<T>()();
    OP_REQUIRES(context, capacity >= 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "capacity must not be negative, got ", capacity)));
    Tensor* level = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, flow.shape(), &level));

    const auto in = flow.flat_inner_dims<T>();  // [rows, hours]
    auto out = level->flat_inner_dims<T>();
    for (int64_t row = 0; row < in.dimension(0); ++row) {
      T last = 0;
      for (int64_t hour = 0; hour < in.dimension(1); ++hour) {
        last = std::min(std::max(last + in(row, hour), T{0}), capacity);
        out(row, hour) = last;
      }
    }
  }
};

// From the last hour to the first. Where the battery is full or
// empty, the hours before do not matter.
template <typename T>
class BatteryGradOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& level_grad = context->input(0);
    const Tensor& level = context->input(1);
    OP_REQUIRES(context, level_grad.shape() == level.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "level_grad has shape ", level_grad.shape().DebugString(),
                    ", expected ", level.shape().DebugString(), " as level")));
    OP_REQUIRES_OK(context, Check("level", level, context->input(2)));
    const T capacity = context->input(2).scalar<T>()();
    Tensor *flow_grad = nullptr, *capacity_grad = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, level.shape(), &flow_grad));
    OP_REQUIRES_OK(context, context->allocate_output(1, {}, &capacity_grad));

    const auto grad = level_grad.flat_inner_dims<T>();  // [rows, hours]
    const auto found = level.flat_inner_dims<T>();
    auto out = flow_grad->flat_inner_dims<T>();
    double sum = 0;  // of all rows and hours
    for (int64_t row = 0; row < grad.dimension(0); ++row) {
      T later = 0;
      for (int64_t hour = grad.dimension(1) - 1; hour >= 0; --hour) {
        later += grad(row, hour);
        const bool full = found(row, hour) >= capacity;
        if (full) sum += later;
        if (full || found(row, hour) <= 0) later = 0;
        out(row, hour) = later;
      }
    }
    capacity_grad->scalar<T>()() = static_cast<T>(sum);
  }
};

// One line per op and type.
#define OP_BY_OP_REGISTER(op, T)                                       \
  REGISTER_KERNEL_BUILDER(                                             \
      Name(#op).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      op##Op<T>)
OP_BY_OP_REGISTER(Battery, float);
OP_BY_OP_REGISTER(Battery, double);
OP_BY_OP_REGISTER(BatteryGrad, float);
OP_BY_OP_REGISTER(BatteryGrad, double);
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
