// SteadySum and SortRows: ops whose threads share a sum, or rows of unequal
// length.

#include <cstdint>

#include "absl/status/status.h"
#include "sort_rows.h"
#include "sum_of.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// All elements, added in an order that the size alone decides.
REGISTER_OP("SteadySum")
    .Attr("T: {float, double}")
    .Input("x: T")
    .Output("sum: T")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Adds all elements of x, and gives the same bits on any number of threads.

x: Of any shape.
sum: A scalar; 0 if x has no elements.
)doc");

REGISTER_OP("SortRows")
    .Input("values: int64")
    .Input("row_splits: int64")
    .Output("sorted: int64")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle splits;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &splits));
      return tensorflow::shape_inference::UnchangedShapeWithRank(context, 1);
    })
    .Doc(R"doc(
Sorts each row of a ragged tensor.

values: `[size]`: the values of the rows, one row after the other.
row_splits: `[rows + 1]`: where each row begins in `values`, and at last `size`.
sorted: `[size]`: the rows, each in ascending order.
)doc");

// The same sum on any number of threads.
template <typename T>
class SteadySumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &sum));
    // [compute] One sum for each block of numbers, and at the end their sum.
    const auto x = context->input(0).flat<T>();
    const Blocks blocks(x.size());
    Tensor parts;
    OP_REQUIRES_OK(
        context, context->allocate_temp(sum->dtype(), {blocks.count}, &parts));
    const auto part = parts.vec<T>();
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(pool.num_threads, pool.workers, blocks.count,
                      Blocks::kCycles, [&](int64_t begin, int64_t end) {
                        const tsl::port::ScopedDontFlushDenormal keep;
                        for (int64_t b = begin; b < end; ++b) {
                          part(b) =
                              SumOf(x.data() + blocks.begin(b), blocks.size(b));
                        }
                      });
    const tsl::port::ScopedDontFlushDenormal keep;
    sum->scalar<T>()() = SumOf(part.data(), blocks.count);
  }
};

// Threads share the values; each row belongs to one thread.
class SortRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor &values = context->input(0), &row_splits = context->input(1);
    OP_REQUIRES_OK(context, CheckRows(values, row_splits));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));
    const int64_t* from = values.vec<int64_t>().data();
    const auto splits = row_splits.vec<int64_t>();
    int64_t* to = output->vec<int64_t>().data();
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    ShareValues(pool, splits.data(), splits.size() - 1,
                [&](const int64_t* row, int64_t) { SortRow(from, row, to); });
  }
};

REGISTER_KERNEL_BUILDER(
    Name("SteadySum").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"),
    SteadySumOp<float>);
REGISTER_KERNEL_BUILDER(Name("SteadySum")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        SteadySumOp<double>);
REGISTER_KERNEL_BUILDER(Name("SortRows").Device(tensorflow::DEVICE_CPU),
                        SortRowsOp);

}  // namespace
}  // namespace op_by_op
