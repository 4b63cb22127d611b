// Post leaves a tensor in the rendezvous of its step, Collect takes it out.

#include "send_recv.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/rendezvous.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/util/device_name_utils.h"

namespace op_by_op {

using tensorflow::CancellationManager;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Rendezvous;
using tensorflow::Tensor;

// [interface] Stateful, so that no optimizer removes or merges them.
REGISTER_OP("Post")
    .Input("value: T")
    .Attr("label: string")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs);

REGISTER_OP("Collect")
    .Output("value: T")
    .Attr("label: string")
    .Attr("timeout_ms: int >= 0 = 10000")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnknownShape);

// [key] The same for both ops, even if they run on two CPU devices. A label may
// be any bytes, but Python takes messages as UTF-8: hence CHexEscape.
absl::Status KeyOf(OpKernelContext* context, const std::string& label,
                   Rendezvous::ParsedKey* key) {
  if (context->rendezvous() == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("there is no rendezvous here for label '",
                     absl::CHexEscape(label), "'"));
  }
  if (label.empty() || absl::StrContains(label, ';')) {
    return absl::InvalidArgumentError(
        absl::StrCat("label must not be empty nor have a ';' in it, got '",
                     absl::CHexEscape(label), "'"));
  }
  std::string host;
  TF_RETURN_IF_ERROR(tensorflow::DeviceNameUtils::DeviceNameToCpuDeviceName(
      context->device()->name(), &host));
  const std::string full = Rendezvous::CreateKey(
      host, /*src_incarnation=*/0, host, label, context->frame_iter());
  return Rendezvous::ParseKey(full, key);
}

// [post] Send never blocks. If a Collect is waiting, Send calls its callback.
class PostOp : public tensorflow::OpKernel {
 public:
  explicit PostOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("label", &label_));
  }

  void Compute(OpKernelContext* context) override {
    Rendezvous::ParsedKey key;
    OP_REQUIRES_OK(context, KeyOf(context, label_, &key));
    OP_REQUIRES_OK(context, context->rendezvous()->Send(
                                key, {}, context->input(0), /*is_dead=*/false));
  }

 private:
  std::string label_;
};

// Waits for what Post sends under the same label.
class CollectOp : public tensorflow::AsyncOpKernel {
 public:
  explicit CollectOp(OpKernelConstruction* context) : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("label", &label_));
    OP_REQUIRES_OK(context, context->GetAttr("timeout_ms", &timeout_ms_));
  }

  // [collect] Asks and returns; the callback sets the output.
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    Rendezvous::ParsedKey key;
    OP_REQUIRES_OK_ASYNC(context, KeyOf(context, label_, &key), done);
    auto wait = std::make_shared<Wait>();
    OP_REQUIRES_ASYNC(context, wait->EndWith(context->cancellation_manager()),
                      absl::CancelledError(absl::StrCat(
                          "the wait for label '", absl::CHexEscape(label_),
                          "' was cancelled")),
                      done);
    Rendezvous::Args args;
    args.cancellation_manager = &wait->end;
    const int64_t timeout_ms = timeout_ms_;
    context->rendezvous()->RecvAsync(
        key, args,
        [this, context, done, wait](
            const absl::Status& status, const Rendezvous::Args&,
            const Rendezvous::Args&, const Tensor& value, bool /*is_dead*/) {
          const bool timed_out = wait->Over();
          OP_REQUIRES_ASYNC(context, status.ok() || !timed_out, NothingPosted(),
                            done);
          OP_REQUIRES_OK_ASYNC(context, status, done);
          OP_REQUIRES_ASYNC(context, value.dtype() == output_type(0),
                            OtherType(value.dtype()), done);
          context->set_output(0, value);
          done();
        });
    // Do not touch `context` or `this` below: `done` may have been called.
    if (timeout_ms > 0) wait->EndAfter(absl::Milliseconds(timeout_ms));
  }

 private:
  // [wait] The timeout and a cancelled step both cancel `end`.
  struct Wait : std::enable_shared_from_this<Wait> {
    bool EndWith(CancellationManager* manager) {
      step = manager;
      if (step == nullptr) return true;
      token = step->get_cancellation_token();
      return step->RegisterCallback(token, [wait = shared_from_this()] {
        wait->End(/*timed_out=*/false);
      });
    }

    // If the wait is not over yet, a thread of its own sleeps until it is.
    void EndAfter(absl::Duration timeout) {
      if (over.HasBeenNotified()) return;
      tensorflow::Env::Default()->SchedClosure(
          [wait = shared_from_this(), timeout] {
            if (wait->over.WaitForNotificationWithTimeout(timeout)) return;
            wait->End(/*timed_out=*/true);
          });
    }

    // StartCancel makes the rendezvous call the callback with an error.
    void End(bool timed_out) {
      std::unique_lock<std::recursive_mutex> lock(ending, std::try_to_lock);
      if (!lock || over.HasBeenNotified()) return;
      late = timed_out;
      end.StartCancel();
    }

    // Returns whether the timeout ended it. The rendezvous may be gone after
    // `done`, so this first waits until a thread in `End` has left it.
    bool Over() {
      if (step != nullptr) step->TryDeregisterCallback(token);
      over.Notify();
      const std::lock_guard<std::recursive_mutex> lock(ending);
      return late;
    }

    CancellationManager end;
    CancellationManager* step = nullptr;
    tensorflow::CancellationToken token;
    absl::Notification over;
    std::recursive_mutex ending;
    bool late = false;  // guarded by `ending`
  };

  // []
  absl::Status NothingPosted() const {
    return absl::DeadlineExceededError(absl::StrCat(
        "nothing was posted under the label '", absl::CHexEscape(label_),
        "' within ", timeout_ms_, " ms"));
  }

  absl::Status OtherType(tensorflow::DataType posted) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "under the label '", absl::CHexEscape(label_),
        "' there is a tensor of ", tensorflow::DataTypeString(posted),
        ", expected ", tensorflow::DataTypeString(output_type(0))));
  }

  std::string label_;
  int64_t timeout_ms_;
};

REGISTER_KERNEL_BUILDER(Name("Post").Device(tensorflow::DEVICE_CPU), PostOp);
REGISTER_KERNEL_BUILDER(Name("Collect").Device(tensorflow::DEVICE_CPU),
                        CollectOp);

}  // namespace op_by_op
