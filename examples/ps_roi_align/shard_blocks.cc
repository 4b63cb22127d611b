// ShardBlocks: which thread does which units of work.

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

using tensorflow::Tensor;
using tensorflow::TensorShape;

REGISTER_OP("ShardBlocks")
    .Attr("total: int >= 0")
    .Attr("cycles: int >= 0")
    .Attr("multiplications: int = 0")
    .Output("first: int64")
    .Output("thread: int32")
    .Output("product: uint64")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      int64_t total;
      TF_RETURN_IF_ERROR(context->GetAttr("total", &total));
      for (int i = 0; i < 3; ++i)
        context->set_output(i, context->Vector(total));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Lets the threads of the CPU share units of work.

first: Of each unit, the first unit of the block that it was done in.
thread: Of each unit, the number of its thread: 0 is the one that called.
product: Of each unit, what its work has come to.
total: How many units there are.
cycles: What Shard is told that each costs.
multiplications: What each unit is: so many, each after the other.
)doc");

class ShardBlocksOp : public tensorflow::OpKernel {
 public:
  explicit ShardBlocksOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("total", &total_));
    OP_REQUIRES_OK(context, context->GetAttr("cycles", &cycles_));
    OP_REQUIRES_OK(context,
                   context->GetAttr("multiplications", &multiplications_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    TensorShape shape;
    OP_REQUIRES_OK(context, TensorShape::BuildTensorShape({total_}, &shape));
    Tensor *first = nullptr, *thread = nullptr, *product = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &first));
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &thread));
    OP_REQUIRES_OK(context, context->allocate_output(2, shape, &product));
    const auto firsts = first->vec<int64_t>();
    const auto threads = thread->vec<int32_t>();
    const auto products = product->vec<uint64_t>();
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    // Begins with unit `begin`, and ends before unit `end`.
    const auto work = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        firsts(i) = begin;
        threads(i) = pool.workers->CurrentThreadId() + 1;
        uint64_t x = i + 2;
        for (int64_t k = 0; k < multiplications_; ++k) x *= x | 1;
        products(i) = x;
      }
    };
    tensorflow::Shard(pool.num_threads, pool.workers, total_, cycles_, work);
  }

 private:
  int64_t total_, cycles_, multiplications_;
};

REGISTER_KERNEL_BUILDER(Name("ShardBlocks").Device(tensorflow::DEVICE_CPU),
                        ShardBlocksOp);

}  // namespace
}  // namespace op_by_op
