// What the sanitizers must report: OutOfRange, and Sum unless it is safe.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

REGISTER_OP("OutOfRange")
    .Input("values: float")
    .Input("row: int32")
    .Input("columns: int32")
    .Output("picked: float");

class OutOfRangeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* picked = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &picked));
    const int32_t row = context->input(1).scalar<int32_t>()();
    const int32_t columns = context->input(2).scalar<int32_t>()();
    const int32_t index = row * columns;  // wrong: int32 can overflow
    picked->scalar<float>()() =
        context->input(0).flat<float>().data()[index];  // wrong: no check
  }
};

REGISTER_KERNEL_BUILDER(Name("OutOfRange").Device(tensorflow::DEVICE_CPU),
                        OutOfRangeOp);

REGISTER_OP("ControlSum")
    .Attr("safe: bool")
    .Input("values: float")
    .Output("sum: float");

class SumOp : public tensorflow::OpKernel {
 public:
  explicit SumOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("safe", &safe_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &sum));
    float total = 0;
    std::mutex mutex;
    const auto values = context->input(0).flat<float>();
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(
        workers.num_threads, workers.workers, values.size(), 1'000'000,
        [&](int64_t begin, int64_t end) {
          std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
          if (safe_) lock.lock();
          // Long enough for another thread to take a shard.
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          for (int64_t i = begin; i < end; ++i) {
            total += values(i);
          }
        });
    sum->scalar<float>()() = total;
  }

 private:
  bool safe_;
};

REGISTER_KERNEL_BUILDER(Name("ControlSum").Device(tensorflow::DEVICE_CPU),
                        SumOp);

}  // namespace
}  // namespace op_by_op
