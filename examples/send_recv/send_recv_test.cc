// Tests of what Python cannot bring about: a tensor comes at the very moment
// at which another thread ends the wait for it.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/rendezvous.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/version.h"

namespace op_by_op {
namespace {

using tensorflow::CancellationManager;
using tensorflow::Tensor;

class Cpu : public tensorflow::DeviceBase {
 public:
  Cpu() : DeviceBase(tensorflow::Env::Default()) {}
  const std::string& name() const override { return name_; }

 private:
  const std::string name_ = "/job:localhost/replica:0/task:0/device:CPU:0";
};

// Whoever cancels the wait stays in here until it is allowed to leave.
class SlowRendezvous : public tensorflow::RendezvousInterface {
 public:
  absl::Status Send(const ParsedKey&, const Args&, const Tensor& value,
                    bool) override {
    answer_(absl::OkStatus(), {}, {}, value, false);
    return absl::OkStatus();
  }

  void RecvAsync(const ParsedKey&, const Args& args,
                 DoneCallback answer) override {
    answer_ = std::move(answer);
    CancellationManager* manager = args.cancellation_manager;
    manager->RegisterCallback(manager->get_cancellation_token(), [this] {
      entered.Notify();
      leave.WaitForNotification();
      left.Notify();
    });
  }

  void StartAbort(const absl::Status&) override {}

  absl::Notification entered, leave, left;

 private:
  DoneCallback answer_;
};

// Sends a tensor while `cancel`, or the timeout, is in the rendezvous.
template <typename Cancel>
void ExpectThatNobodyIsLeftBehind(int timeout_ms, Cancel cancel) {
  Cpu device;
  tensorflow::NodeDef node;
  TF_CHECK_OK(tensorflow::NodeDefBuilder("collect", "Collect")
                  .Attr("label", "x")
                  .Attr("timeout_ms", timeout_ms)
                  .Attr("T", tensorflow::DT_FLOAT)
                  .Finalize(&node));
  absl::Status status;
  std::unique_ptr<tensorflow::OpKernel> kernel = tensorflow::CreateOpKernel(
      tensorflow::DEVICE_CPU, &device, tensorflow::cpu_allocator(), node,
      TF_GRAPH_DEF_VERSION, &status);
  TF_CHECK_OK(status);

  SlowRendezvous rendezvous;
  CancellationManager step;
  tensorflow::AllocatorAttributes attributes;
  tensorflow::OpKernelContext::Params params;
  params.device = &device;
  params.op_kernel = kernel.get();
  params.rendezvous = &rendezvous;
  params.cancellation_manager = &step;
  params.output_attr_array = &attributes;
  tensorflow::OpKernelContext context(&params);

  absl::Notification done;
  std::atomic<bool> alone{false};
  kernel->AsAsync()->ComputeAsync(&context, [&] {
    alone = rendezvous.left.HasBeenNotified();
    done.Notify();
  });
  std::thread canceller([&] { cancel(&step); });
  rendezvous.entered.WaitForNotification();
  std::thread sender([&] {
    TF_CHECK_OK(rendezvous.Send({}, {}, Tensor(5.0f), /*is_dead=*/false));
  });
  EXPECT_FALSE(done.WaitForNotificationWithTimeout(absl::Milliseconds(200)));
  rendezvous.leave.Notify();
  sender.join();
  canceller.join();
  rendezvous.left.WaitForNotification();
  EXPECT_TRUE(done.HasBeenNotified());
  EXPECT_TRUE(alone);
  EXPECT_TRUE(context.status().ok()) << context.status();
  EXPECT_EQ(context.mutable_output(0)->scalar<float>()(), 5.0f);
}

TEST(Collect, IsDoneWhenTheTimeoutHasLeftTheRendezvous) {
  ExpectThatNobodyIsLeftBehind(/*timeout_ms=*/1, [](CancellationManager*) {});
}

TEST(Collect, IsDoneWhenWhoCancelsHasLeftTheRendezvous) {
  ExpectThatNobodyIsLeftBehind(
      /*timeout_ms=*/0, [](CancellationManager* step) { step->StartCancel(); });
}

}  // namespace
}  // namespace op_by_op
