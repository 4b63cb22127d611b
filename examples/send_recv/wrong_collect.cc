// Two versions of Collect before it was right: one waits inside Compute, and so
// keeps a thread of the pool; the other may wait for ever.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "send_recv.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/rendezvous.h"

namespace op_by_op {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Rendezvous;
using tensorflow::Tensor;

REGISTER_OP("BlockingCollect")
    .Output("value: T")
    .Attr("label: string")
    .Attr("timeout_ms: int >= 0 = 10000")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnknownShape);

class BlockingCollectOp : public tensorflow::OpKernel {
 public:
  explicit BlockingCollectOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("label", &label_));
    OP_REQUIRES_OK(context, context->GetAttr("timeout_ms", &timeout_ms_));
  }

  // Returns only when the tensor is there, or too late.
  void Compute(OpKernelContext* context) override {
    std::shared_ptr<Answer> answer = Ask(context);
    OP_REQUIRES(context,
                answer->bell.WaitForNotificationWithTimeout(
                    absl::Milliseconds(timeout_ms_)),
                absl::DeadlineExceededError(
                    absl::StrCat("a thread waited ", timeout_ms_, " ms for ",
                                 absl::CHexEscape(label_))));
    OP_REQUIRES_OK(context, answer->status);
    context->set_output(0, answer->value);
  }

 private:
  // The callback may come after the timeout, and keeps the answer alive.
  struct Answer {
    absl::Notification bell;
    absl::Status status;
    Tensor value;
  };

  std::shared_ptr<Answer> Ask(OpKernelContext* context) const {
    auto answer = std::make_shared<Answer>();
    Rendezvous::ParsedKey key;
    answer->status = KeyOf(context, label_, &key);
    if (!answer->status.ok()) {
      answer->bell.Notify();
      return answer;
    }
    context->rendezvous()->RecvAsync(
        key, {},
        [answer](const absl::Status& status, const Rendezvous::Args&,
                 const Rendezvous::Args&, const Tensor& value, bool) {
          answer->status = status;
          answer->value = value;
          answer->bell.Notify();
        });
    return answer;
  }

  std::string label_;
  int64_t timeout_ms_;
};

REGISTER_KERNEL_BUILDER(Name("BlockingCollect").Device(tensorflow::DEVICE_CPU),
                        BlockingCollectOp);

REGISTER_OP("EndlessCollect")
    .Output("value: T")
    .Attr("label: string")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnknownShape);

class EndlessCollectOp : public tensorflow::AsyncOpKernel {
 public:
  explicit EndlessCollectOp(OpKernelConstruction* context)
      : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("label", &label_));
  }

  // [async] Asks and returns; the callback sets the output, if it is called.
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    Rendezvous::ParsedKey key;
    OP_REQUIRES_OK_ASYNC(context, KeyOf(context, label_, &key), done);
    context->rendezvous()->RecvAsync(
        key, {},
        [context, done](const absl::Status& status, const Rendezvous::Args&,
                        const Rendezvous::Args&, const Tensor& value, bool) {
          OP_REQUIRES_OK_ASYNC(context, status, done);
          context->set_output(0, value);
          done();
        });
  }

 private:
  std::string label_;
};

REGISTER_KERNEL_BUILDER(Name("EndlessCollect").Device(tensorflow::DEVICE_CPU),
                        EndlessCollectOp);

}  // namespace op_by_op
