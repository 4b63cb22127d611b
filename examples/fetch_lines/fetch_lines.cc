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
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
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
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/threadpool.h"
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

// What the system says about an error.
std::string Said(int error) { return std::generic_category().message(error); }

// Returns the descriptor, made non-blocking and closed in programs that this
// process starts; -1 if it is none or that fails, and then errno says why.
int NotBlocking(int fd) {
  if (fd >= 0 && (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0 ||
                  fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC) != 0)) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

// A socket that does not block, and is closed with the object.
class Socket {
 public:
  Socket() : fd_(NotBlocking(socket(AF_INET, SOCK_STREAM, 0))), error_(errno) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }
  int error() const { return error_; }  // if fd() is negative

 private:
  const int fd_, error_;
};

// [call] A call that has not ended.
struct PendingCall {
  // Goes on without waiting. Returns the status once the call has ended.
  std::optional<absl::Status> Continue();

  // What poll has to wait for.
  pollfd Wait() const {
    const short event = connected ? POLLIN : POLLOUT;
    return {socket.fd(), event, 0};
  }
  absl::Status Cancelled() const {
    return absl::CancelledError(absl::StrCat(Port(), "the step was cancelled"));
  }
  std::string Port() const {
    return absl::StrCat("port ", ntohs(address.sin_port), ": ");
  }

  Socket socket;
  sockaddr_in address = {};
  bool connected = false;
  short events = POLLOUT;  // what poll has last reported
  std::string text;        // so far
  size_t max_bytes;
  Clock::time_point until;
  std::atomic<bool> cancelled{false};
  std::function<void(const absl::Status&)> over;  // called once
};

// [continue] Connects, or takes what has come.
std::optional<absl::Status> PendingCall::Continue() {
  if (cancelled) return Cancelled();
  if (!connected) {
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    const int error =
        connect(socket.fd(), to, sizeof(address)) == 0 ? 0 : errno;
    // It may have connected meanwhile: 0 on Linux, EISCONN elsewhere.
    connected = error == 0 || error == EISCONN;
    if (!connected && error != EINPROGRESS && error != EALREADY) {
      return absl::FailedPreconditionError(absl::StrCat(Port(), Said(error)));
    }
  }
  if (connected) {
    // Only a part: an endless sender must not keep the thread.
    char bytes[65536];
    const ssize_t size = recv(socket.fd(), bytes, sizeof(bytes), 0);
    const int error = errno;
    if (size == 0) return absl::OkStatus();
    if (size > 0) {
      text.append(bytes, size);
      if (text.size() > max_bytes) {
        return absl::ResourceExhaustedError(
            absl::StrCat(Port(), "there are more than ", max_bytes, " bytes"));
      }
    } else if (error != EAGAIN && error != EWOULDBLOCK) {
      return absl::FailedPreconditionError(absl::StrCat(Port(), Said(error)));
    }
  }
  if (Clock::now() < until) return std::nullopt;
  return absl::DeadlineExceededError(
      absl::StrCat(Port(), "the answer did not end in time"));
}

// [waiter] One thread waits for all calls.
class Waiter {
 public:
  static Waiter& Get();  // the only one
  absl::Status Start();  // the thread, if it does not run yet

  void Add(std::shared_ptr<PendingCall> call) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      added_.push_back(std::move(call));
    }
    Wake();
  }

  // If the pipe is full, there is enough in it to wake the thread.
  void Wake() {
    if (write(bell_[1], "", 1) < 0) return;
  }

 private:
  Waiter() = default;
  void Run();    // on the thread
  int bell_[2];  // the ends of a pipe: to read from, and to write to
  std::mutex mutex_;
  std::atomic<pid_t> process_{0};  // of the thread, once there is one
  std::vector<std::shared_ptr<PendingCall>> added_ ABSL_GUARDED_BY(mutex_);
};

// Made when it is first asked for. Its thread needs it until the process ends.
Waiter& Waiter::Get() {
  static Waiter* waiter = new Waiter;
  return *waiter;
}

absl::Status Waiter::Start() {
  if (process_ != 0 && process_ != getpid()) {
    return absl::FailedPreconditionError(
        "no thread waits here: this process was forked after its parent had "
        "called the op; start it by spawn");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (process_ != 0) return absl::OkStatus();
  bool made = pipe(bell_) == 0;
  for (int i = 0; i < 2 && made; ++i) {
    made = NotBlocking(bell_[i]) >= 0;
    if (!made) close(bell_[1 - i]);
  }
  if (!made) {
    return absl::ResourceExhaustedError(absl::StrCat("no pipe: ", Said(errno)));
  }
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error& error) {
    for (const int end : bell_) close(end);
    return absl::ResourceExhaustedError(
        absl::StrCat("no thread: ", Said(error.code().value())));
  }
  process_ = getpid();
  return absl::OkStatus();
}

// [loop] Never busy for long: each call that is waited for waits for it.
void Waiter::Run() {
  // For what is done at the end of a call.
  tensorflow::thread::ThreadPool pool(tensorflow::Env::Default(), "fetch_lines",
                                      /*num_threads=*/16);
  std::vector<std::shared_ptr<PendingCall>> calls;
  while (true) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      calls.insert(calls.end(), added_.begin(), added_.end());
      added_.clear();
    }
    auto next = Clock::now() + std::chrono::hours(1);
    std::vector<pollfd> waits = {{bell_[0], POLLIN, 0}};
    for (auto& call : calls) {
      std::optional<absl::Status> status;
      if (call->events != 0 || call->cancelled || call->until <= Clock::now()) {
        status = call->Continue();
      }
      if (status) {
        pool.Schedule([call, status = *status] { call->over(status); });
        call = nullptr;
      } else {
        waits.push_back(call->Wait());
        next = std::min(next, call->until);
      }
    }
    calls.erase(std::remove(calls.begin(), calls.end(), nullptr), calls.end());
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    const int ready =
        poll(waits.data(), waits.size(), std::max<int64_t>(left.count(), 0));
    // It may fail, if there are too many: then try them all, after a moment.
    if (ready < 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (size_t i = 0; i < calls.size(); ++i) {
      calls[i]->events = ready < 0 ? POLLERR : waits[i + 1].revents;
    }
    char rung[64];
    while (read(bell_[0], rung, sizeof(rung)) > 0) {
    }
  }
}

// [kernel] Hands the wait to the waiter, and returns.
class FetchLinesOp : public tensorflow::AsyncOpKernel {
 public:
  explicit FetchLinesOp(OpKernelConstruction* context)
      : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("timeout_ms", &timeout_ms_));
    OP_REQUIRES_OK(context, context->GetAttr("max_bytes", &max_bytes_));
  }

  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    auto call = std::make_shared<PendingCall>();
    // 1. What it waits for.
    OP_REQUIRES_OK_ASYNC(context, Prepare(context->input(0), call.get()), done);
    OP_REQUIRES_OK_ASYNC(context, Waiter::Get().Start(), done);
    // [over] 2. What is done at the end, and where.
    CancellationManager* step = context->cancellation_manager();
    const auto token = step ? step->get_cancellation_token() : 0;
    call->over = [=, read = call.get()](const absl::Status& status) {
      if (step != nullptr) step->TryDeregisterCallback(token);
      OP_REQUIRES_OK_ASYNC(context, status, done);
      OP_REQUIRES_OK_ASYNC(context, SetLines(context, *read), done);
      done();
    };
    // [cancel] 3. If the step is cancelled.
    if (step != nullptr) {
      const bool goes_on = step->RegisterCallback(token, [call] {
        call->cancelled = true;
        Waiter::Get().Wake();
      });
      OP_REQUIRES_ASYNC(context, goes_on, call->Cancelled(), done);
    }
    // [add] 4. The waiter takes over.
    Waiter::Get().Add(std::move(call));
  }

 private:
  // From the port to a call, and from its text to the output.
  absl::Status Prepare(const Tensor& port, PendingCall* call) const {
    if (port.dims() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "port must be a scalar, got shape ", port.shape().DebugString()));
    }
    const int32_t number = port.scalar<int32_t>()();
    if (number < 1 || number > 65535) {
      return absl::InvalidArgumentError(
          absl::StrCat("port must be from 1 to 65535, got ", number));
    }
    if (call->socket.fd() < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no socket: ", Said(call->socket.error())));
    }
    call->address.sin_family = AF_INET;
    call->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    call->address.sin_port = htons(number);
    call->max_bytes = max_bytes_;
    // A hundred years at most: 64 bits hold 292 years of nanoseconds.
    const std::chrono::milliseconds timeout(
        std::min<int64_t>(timeout_ms_, int64_t{100} * 365 * 24 * 3600 * 1000));
    call->until = Clock::now() + timeout;
    return absl::OkStatus();
  }

  static absl::Status SetLines(OpKernelContext* context,
                               const PendingCall& call) {
    absl::string_view text = call.text;
    std::vector<absl::string_view> lines;
    if (absl::ConsumeSuffix(&text, "\n")) {
      lines = absl::StrSplit(text, '\n');
    } else if (!text.empty()) {
      return absl::DataLossError(
          absl::StrCat(call.Port(), "the answer ends in the middle of a line"));
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
