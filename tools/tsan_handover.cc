// Tells the thread sanitizer how TensorFlow hands work to its threads, and a
// callback to the thread that cancels.
//
// TensorFlow is not instrumented, so the sanitizer sees none of its locks and
// would take for a race that one thread prepares what another one works on.
// This library comes before TensorFlow's and has functions of the same names:
// what happened before the call happens before each part of the work, and each
// part before the return. It orders no two parts, so their races are found.
// What happened before a callback was registered happens before it is called.

#include <dlfcn.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace tsl::thread {
class ThreadPool {
 public:
  class SchedulingParams;
  using Work = std::function<void(int64_t, int64_t)>;
  void ParallelFor(int64_t total, int64_t cost, const Work& work);
  void ParallelFor(int64_t total, const SchedulingParams& params,
                   const Work& work);
};
}  // namespace tsl::thread

namespace tsl {
class CancellationManager {
 public:
  bool RegisterCallback(int64_t token, std::function<void()> callback);
};
}  // namespace tsl

namespace {

using tsl::thread::ThreadPool;
using Work = ThreadPool::Work;

template <typename Function>
Function* Original(const char* name) {
  void* library =
      dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

template <typename Call>
void Ordered(const Work& work, Call call) {
  char started, done;
  __tsan_release(&started);
  call([&work, &started, &done](int64_t begin, int64_t end) {
    __tsan_acquire(&started);
    work(begin, end);
    __tsan_release(&done);
  });
  __tsan_acquire(&done);
}

}  // namespace

namespace tensorflow {

void Shard(int parallelism, ThreadPool* workers, int64_t total, int64_t cost,
           Work work) {
  static auto* const original = Original<decltype(Shard)>(
      "_ZN10tensorflow5ShardEiPN3tsl6thread10ThreadPoolEllSt8functionIFvllEE");
  Ordered(work, [=](Work ordered) {
    original(parallelism, workers, total, cost, ordered);
  });
}

}  // namespace tensorflow

namespace tsl::thread {

void ThreadPool::ParallelFor(int64_t total, int64_t cost, const Work& work) {
  static auto* const original =
      Original<void(ThreadPool*, int64_t, int64_t, const Work&)>(
          "_ZN3tsl6thread10ThreadPool11ParallelForEllRKSt8functionIFvllEE");
  Ordered(work, [=](Work ordered) { original(this, total, cost, ordered); });
}

void ThreadPool::ParallelFor(int64_t total, const SchedulingParams& params,
                             const Work& work) {
  static auto* const original = Original<void(
      ThreadPool*, int64_t, const SchedulingParams&, const Work&)>(
      "_ZN3tsl6thread10ThreadPool11ParallelForElRKNS1_16SchedulingParamsERK"
      "St8functionIFvllEE");
  Ordered(work, [=, &params](Work ordered) {
    original(this, total, params, ordered);
  });
}

}  // namespace tsl::thread

namespace tsl {

bool CancellationManager::RegisterCallback(int64_t token,
                                           std::function<void()> callback) {
  static auto* const original =
      Original<bool(CancellationManager*, int64_t, std::function<void()>)>(
          "_ZN3tsl19CancellationManager16RegisterCallbackElSt8functionIFvvEE");
  // Another thread calls it or, when it is not needed any more, destroys it.
  struct Registered {
    ~Registered() { __tsan_acquire(this); }
    std::function<void()> callback;
  };
  auto registered = std::make_shared<Registered>();
  registered->callback = std::move(callback);
  __tsan_release(registered.get());
  return original(this, token, [registered = std::move(registered)] {
    __tsan_acquire(registered.get());
    registered->callback();
  });
}

}  // namespace tsl
