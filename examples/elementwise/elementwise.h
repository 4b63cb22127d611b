// One kernel class for all ops of two broadcast inputs: each op adds a functor.

#ifndef ELEMENTWISE_H_
#define ELEMENTWISE_H_

#include <algorithm>
#include <cstdint>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/bcast.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {

constexpr int kMemoryCost = 2;  // cycles to read two elements and write one

// On each device, what Functor computes of two broadcast tensors.
template <typename Device, typename Functor>
struct Broadcast;

// Where a row of the output begins in an input of these sizes.
inline int64_t RowBegin(int64_t row, const tensorflow::BCast::Vec& output,
                        const tensorflow::BCast::Vec& input) {
  const int last = static_cast<int>(output.size()) - 1;
  int64_t begin = 0, step = input[last];
  for (int d = last - 1; d >= 0; --d) {
    if (input[d] > 1) begin += row % output[d] * step;
    row /= output[d];
    step *= input[d];
  }
  return begin;
}

// [rows] A piece of a row, in which each input advances or stands still.
template <typename Functor, typename T>
void ComputeRow(const T* x, bool x_stays, const T* y, bool y_stays, T* z,
                int64_t size) {
  using Row = Eigen::Array<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Row> xs(x, x_stays ? 1 : size);
  const Eigen::Map<const Row> ys(y, y_stays ? 1 : size);
  Eigen::Map<Row> zs(z, size);
  const Functor functor;
  if (x_stays) {
    zs = Row::Constant(size, *x).binaryExpr(ys, functor);
  } else if (y_stays) {
    zs = xs.binaryExpr(Row::Constant(size, *y), functor);
  } else {
    zs = xs.binaryExpr(ys, functor);
  }
}

// Threads take ranges of the output, which they cut into rows.
template <typename Functor>
struct Broadcast<Eigen::ThreadPoolDevice, Functor> {
  template <typename T>
  void operator()(tensorflow::OpKernelContext* context,
                  const tensorflow::BCast& plan, const T* x, const T* y, T* z,
                  int64_t size) const {
    const auto& sizes = plan.result_shape();
    const int last = static_cast<int>(sizes.size()) - 1;
    const int64_t width = sizes[last];
    const bool x_stays = plan.x_reshape()[last] < width;
    const bool y_stays = plan.y_reshape()[last] < width;

    const auto compute = [&](int64_t first, int64_t end) {
      while (first < end) {
        const int64_t row = first / width, column = first % width;
        const int64_t count = std::min(width - column, end - first);
        ComputeRow<Functor>(
            x + RowBegin(row, sizes, plan.x_reshape()) + !x_stays * column,
            x_stays,
            y + RowBegin(row, sizes, plan.y_reshape()) + !y_stays * column,
            y_stays, z + first, count);
        first += count;
      }
    };
    const int cost = Eigen::internal::functor_traits<Functor>::Cost;
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(pool.num_threads, pool.workers, size, cost + kMemoryCost,
                      compute);
  }
};

// [kernel] The same class for any device and functor.
template <typename Device, typename Functor, typename T>
class BroadcastOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& x = context->input(0);
    const tensorflow::Tensor& y = context->input(1);
    const tensorflow::BCast plan(tensorflow::BCast::FromShape(x.shape()),
                                 tensorflow::BCast::FromShape(y.shape()));
    OP_REQUIRES(
        context, plan.IsValid(),
        absl::InvalidArgumentError(absl::StrCat(
            "x and y must have sizes that are equal, or 1, counted "
            "from the last dimension, got shapes ",
            x.shape().DebugString(), " and ", y.shape().DebugString())));
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::TensorShape::BuildTensorShape(
                                plan.output_shape(), &shape));
    tensorflow::Tensor* z = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0, 1}, 0, shape, &z));
    if (shape.num_elements() == 0) return;
    Broadcast<Device, Functor>()(context, plan, x.flat<T>().data(),
                                 y.flat<T>().data(), z->flat<T>().data(),
                                 shape.num_elements());
  }
};

}  // namespace op_by_op

#endif  // ELEMENTWISE_H_
