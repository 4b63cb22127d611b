// Blend: (1 - weight) * x + weight * y, a mixture of x and y.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/bcast.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::shape_inference::BroadcastBinaryOpOutputShapeFnHelper;

// [interface] Any three shapes that broadcast: two at a time.
REGISTER_OP("Blend")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Input("y: T")
    .Input("weight: T")
    .Output("z: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle shape;
      TF_RETURN_IF_ERROR(BroadcastBinaryOpOutputShapeFnHelper(
          context, context->input(0), context->input(1), true, &shape));
      TF_RETURN_IF_ERROR(BroadcastBinaryOpOutputShapeFnHelper(
          context, shape, context->input(2), true, &shape));
      context->set_output(0, shape);
      return absl::OkStatus();
    })
    .Doc("Computes (1 - weight) * x + weight * y with broadcasting.");

// [steps] How far input i goes when the output goes one step along each
// dimension: not at all where the input is repeated.
using Plan = tensorflow::BCastList<3>;
using Steps = std::vector<int64_t>;

Steps StepsOf(const Plan& plan, int i) {
  const Plan::Vec& sizes = plan.reshape(i);
  Steps steps(sizes.size());
  int64_t step = 1;
  for (int64_t d = steps.size() - 1; d >= 0; --d) {
    steps[d] = sizes[d] > 1 ? step : 0;
    step *= sizes[d];
  }
  return steps;
}

// [walk] From row to row of the output, and where in each input it begins.
class Walk {
 public:
  Walk(const Plan& plan, const Steps* steps, int64_t row)
      : sizes_(plan.result_shape()), steps_(steps), index_(sizes_.size()) {
    for (int64_t d = index_.size() - 2; d >= 0; --d) {
      index_[d] = row % sizes_[d];
      row /= sizes_[d];
      for (int i = 0; i < 3; ++i) place_[i] += index_[d] * steps_[i][d];
    }
  }

  void Next() {
    for (int64_t d = index_.size() - 2; d >= 0; --d) {
      for (int i = 0; i < 3; ++i) place_[i] += steps_[i][d];
      if (++index_[d] < sizes_[d]) return;
      for (int i = 0; i < 3; ++i) place_[i] -= index_[d] * steps_[i][d];
      index_[d] = 0;
    }
  }

  int64_t place(int i) const { return place_[i]; }

 private:
  const Plan::Vec& sizes_;
  const Steps* steps_;
  std::vector<int64_t> index_;
  int64_t place_[3] = {};
};

// [kernel] Threads take ranges of the output, and cut them into rows.
template <typename T>
class BlendOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor &x = context->input(0), &y = context->input(1),
                 &weight = context->input(2);
    using tensorflow::BCast;
    const Plan plan({BCast::FromShape(x.shape()), BCast::FromShape(y.shape()),
                     BCast::FromShape(weight.shape())});
    OP_REQUIRES(
        context, plan.IsValid(),
        absl::InvalidArgumentError(absl::StrCat(
            "x, y and weight must have sizes that are equal, or 1, counted "
            "from the last dimension, got shapes ",
            x.shape().DebugString(), ", ", y.shape().DebugString(), " and ",
            weight.shape().DebugString())));
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::TensorShape::BuildTensorShape(
                                plan.output_shape(), &shape));
    Tensor* z = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0, 1, 2}, 0, shape, &z));
    ForAll(context, plan, x.flat<T>().data(), y.flat<T>().data(),
           weight.flat<T>().data(), z->flat<T>().data(), shape.num_elements());
  }

 private:
  static void ForAll(tensorflow::OpKernelContext* context, const Plan& plan,
                     const T* x, const T* y, const T* weight, T* z,
                     int64_t size) {
    const Steps steps[] = {StepsOf(plan, 0), StepsOf(plan, 1),
                           StepsOf(plan, 2)};
    const int64_t width = plan.result_shape().back();
    const int64_t dx = steps[0].back(), dy = steps[1].back(),
                  dw = steps[2].back();
    constexpr int64_t kCycles = 4;
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(
        pool.num_threads, pool.workers, size, kCycles,
        [&](int64_t begin, int64_t end) {
          int64_t column = begin % width;
          for (Walk walk(plan, steps, begin / width); begin < end;
               walk.Next(), column = 0) {
            const int64_t count = std::min(width - column, end - begin);
            const T* from = x + walk.place(0) + column * dx;
            const T* to = y + walk.place(1) + column * dy;
            const T* w = weight + walk.place(2) + column * dw;
            for (int64_t c = 0; c < count; ++c, from += dx, to += dy, w += dw) {
              z[begin + c] = (1 - *w) * *from + *w * *to;
            }
            begin += count;
          }
        });
  }
};

// A kernel for each type.
REGISTER_KERNEL_BUILDER(
    Name("Blend").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    BlendOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("Blend").Device(tensorflow::DEVICE_CPU).TypeConstraint<double>("T"),
    BlendOp<double>);

}  // namespace
}  // namespace op_by_op
