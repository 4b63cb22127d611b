// Ops that wait: one keeps its thread meanwhile, one gives it back.

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/threadpool.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

REGISTER_OP("BlockingPause")
    .Attr("milliseconds: int >= 0")
    .Attr("T: type")
    .Input("x: T")
    .Output("y: T")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

REGISTER_OP("Pause")
    .Attr("milliseconds: int >= 0")
    .Attr("T: type")
    .Input("x: T")
    .Output("y: T")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [blocking] Wrong: it keeps one of TensorFlow's threads while it waits.
class BlockingPauseOp : public tensorflow::OpKernel {
 public:
  explicit BlockingPauseOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("milliseconds", &milliseconds_));
  }

  void Compute(OpKernelContext* context) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_));
    context->set_output(0, context->input(0));
  }

 private:
  int64_t milliseconds_;
};

// [pause] It returns at once, and calls done when the wait is over.
class PauseOp : public tensorflow::AsyncOpKernel {
 public:
  explicit PauseOp(OpKernelConstruction* context) : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("milliseconds", &milliseconds_));
  }

  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    // Threads of our own. A call that finds all of them busy waits for one.
    static auto* const pool = new tensorflow::thread::ThreadPool(
        tensorflow::Env::Default(), "pause", /*num_threads=*/64);
    pool->Schedule([context, done = std::move(done), time = milliseconds_] {
      std::this_thread::sleep_for(std::chrono::milliseconds(time));
      context->set_output(0, context->input(0));
      done();
    });
  }

 private:
  int64_t milliseconds_;
};

// One line for each.
REGISTER_KERNEL_BUILDER(Name("BlockingPause").Device(tensorflow::DEVICE_CPU),
                        BlockingPauseOp);
REGISTER_KERNEL_BUILDER(Name("Pause").Device(tensorflow::DEVICE_CPU), PauseOp);

}  // namespace
}  // namespace op_by_op
