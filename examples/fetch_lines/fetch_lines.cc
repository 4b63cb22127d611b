// FetchLines: what a server sends, without a thread that waits for it.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/tstring.h"

namespace op_by_op {
namespace {

using tensorflow::CancellationManager;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::tstring;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;
using Clock = std::chrono::steady_clock;

// [interface] Stateful: the same port gives other lines next time.
REGISTER_OP("FetchLines")
    .Attr("timeout_ms: int >= 1 = 10000")
    .Attr("max_bytes: int >= 0 = 16777216")
    .Input("port: int32")
    .Output("lines: string")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle port;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &port));
      context->set_output(0, context->UnknownShapeOfRank(1));
      return absl::OkStatus();
    });

// [] A socket that does not block, and is closed with the object.
class Socket {
 public:
  Socket()
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// [answer] What one call waits for.
struct Answer {
  // Goes on without waiting; the status of its end, or nothing.
  std::optional<absl::Status> Continue();

  absl::Status Cancelled() const {
    return absl::CancelledError(absl::StrCat(Port(), "the step was cancelled"));
  }
  std::string Port() const {
    return absl::StrCat("port ", ntohs(address.sin_port), ": ");
  }

  Socket socket;
  sockaddr_in address = {};
  bool connected = false;
  std::string text;  // so far
  size_t max_bytes;
  Clock::time_point until;
  std::atomic<bool> cancelled{false};
  std::function<void(const absl::Status&)> over;  // called once
};

// [continue] Connects, or takes what has come.
std::optional<absl::Status> Answer::Continue() {
  if (cancelled) return Cancelled();
  if (!connected) {
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    connected = connect(socket.fd(), to, sizeof(address)) == 0;
    if (!connected && errno != EINPROGRESS && errno != EALREADY) {
      return absl::FailedPreconditionError(
          absl::StrCat(Port(), std::strerror(errno)));
    }
  }
  if (connected) {
    // One part of it: who sends without end must not keep the thread.
    char bytes[65536];
    const ssize_t size = recv(socket.fd(), bytes, sizeof(bytes), 0);
    if (size == 0) return absl::OkStatus();
    if (size > 0) {
      text.append(bytes, size);
      if (text.size() > max_bytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat(Port(), "there are more than ", max_bytes, " bytes"));
      }
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return absl::FailedPreconditionError(
          absl::StrCat(Port(), std::strerror(errno)));
    }
  }
  if (Clock::now() < until) return std::nullopt;
  return absl::DeadlineExceededError(
      absl::StrCat(Port(), "the answer did not end in time"));
}

// [] One thread waits for all answers.
class Waiter {
 public:
  static Waiter& Get() {
    static Waiter* waiter = new Waiter;
    return *waiter;
  }

  // Before the first answer.
  absl::Status Start() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (started_) return absl::OkStatus();
    if (pipe2(bell_, O_NONBLOCK | O_CLOEXEC) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no pipe: ", std::strerror(errno)));
    }
    std::thread([this] { Run(); }).detach();
    started_ = true;
    return absl::OkStatus();
  }

  void Add(std::shared_ptr<Answer> answer) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      added_.push_back(std::move(answer));
    }
    Wake();
  }

  void Wake() {
    // If the pipe is full, there is enough in it to wake the thread.
    if (write(bell_[1], "", 1) < 0) return;
  }

 private:
  Waiter() = default;

  // [loop] Runs on a thread of its own, until the process ends.
  void Run() {
    std::vector<std::shared_ptr<Answer>> answers;
    while (true) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        answers.insert(answers.end(), added_.begin(), added_.end());
        added_.clear();
      }
      auto next = Clock::now() + std::chrono::hours(1);
      std::vector<pollfd> waits = {{bell_[0], POLLIN, 0}};
      for (auto& answer : answers) {
        if (std::optional<absl::Status> status = answer->Continue()) {
          answer->over(*status);
          answer = nullptr;
        } else {
          const short event = answer->connected ? POLLIN : POLLOUT;
          waits.push_back({answer->socket.fd(), event, 0});
          next = std::min(next, answer->until);
        }
      }
      answers.erase(std::remove(answers.begin(), answers.end(), nullptr),
                    answers.end());
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
      poll(waits.data(), waits.size(), std::max<int64_t>(left.count(), 0));
      char rung[64];
      while (read(bell_[0], rung, sizeof(rung)) > 0) {
      }
    }
  }

  // [] Shared with those who call.
  int bell_[2];
  std::mutex mutex_;
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<Answer>> added_ ABSL_GUARDED_BY(mutex_);
};

// [kernel] Hands the wait to the waiter, and returns.
class FetchLinesOp : public tensorflow::AsyncOpKernel {
 public:
  explicit FetchLinesOp(OpKernelConstruction* construction)
      : AsyncOpKernel(construction) {
    OP_REQUIRES_OK(construction,
                   construction->GetAttr("timeout_ms", &timeout_ms_));
    OP_REQUIRES_OK(construction,
                   construction->GetAttr("max_bytes", &max_bytes_));
  }

  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    auto answer = std::make_shared<Answer>();
    OP_REQUIRES_OK_ASYNC(context, Prepare(context->input(0), answer.get()),
                         done);
    OP_REQUIRES_OK_ASYNC(context, Waiter::Get().Start(), done);
    CancellationManager* step = context->cancellation_manager();
    const auto token = step ? step->get_cancellation_token() : 0;
    answer->over = [=, read = answer.get()](const absl::Status& status) {
      if (step != nullptr) step->TryDeregisterCallback(token);
      OP_REQUIRES_OK_ASYNC(context, status, done);
      OP_REQUIRES_OK_ASYNC(context, SetLines(context, *read), done);
      done();
    };
    if (step != nullptr) {
      const bool goes_on = step->RegisterCallback(token, [answer] {
        answer->cancelled = true;
        Waiter::Get().Wake();
      });
      OP_REQUIRES_ASYNC(context, goes_on, answer->Cancelled(), done);
    }
    Waiter::Get().Add(std::move(answer));
  }

  // [] From the port to an answer, and from its text to the output.
 private:
  absl::Status Prepare(const Tensor& port, Answer* answer) const {
    if (port.dims() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "port must be a scalar, got shape ", port.shape().DebugString()));
    }
    const int32_t number = port.scalar<int32_t>()();
    if (number < 1 || number > 65535) {
      return absl::InvalidArgumentError(
          absl::StrCat("port must be from 1 to 65535, got ", number));
    }
    if (answer->socket.fd() < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no socket: ", std::strerror(errno)));
    }
    answer->address.sin_family = AF_INET;
    answer->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    answer->address.sin_port = htons(number);
    answer->max_bytes = max_bytes_;
    // A hundred years at most: 64 bits hold 292 years of nanoseconds.
    const std::chrono::milliseconds timeout(
        std::min<int64_t>(timeout_ms_, int64_t{100} * 365 * 24 * 3600 * 1000));
    answer->until = Clock::now() + timeout;
    return absl::OkStatus();
  }

  static absl::Status SetLines(OpKernelContext* context, const Answer& answer) {
    absl::string_view text = answer.text;
    std::vector<absl::string_view> lines;
    if (absl::ConsumeSuffix(&text, "\n")) {
      lines = absl::StrSplit(text, '\n');
    } else if (!text.empty()) {
      return absl::DataLossError(absl::StrCat(
          answer.Port(), "the answer ends in the middle of a line"));
    }
    Tensor* output = nullptr;
    TF_RETURN_IF_ERROR(context->allocate_output(
        0, {static_cast<int64_t>(lines.size())}, &output));
    std::copy(lines.begin(), lines.end(), output->vec<tstring>().data());
    return absl::OkStatus();
  }

  int64_t timeout_ms_, max_bytes_;
};

REGISTER_KERNEL_BUILDER(Name("FetchLines").Device(tensorflow::DEVICE_CPU),
                        FetchLinesOp);

}  // namespace
}  // namespace op_by_op
