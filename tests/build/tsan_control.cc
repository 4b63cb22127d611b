// What the thread sanitizer must report, unless it is safe: threads of
// TensorFlow that add to one variable, and a callback that reads one.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/threadpool.h"
#include "tensorflow/core/util/work_sharder.h"

// A suppression names the constructor of such a class, and no other method.
class KeyTable {
 public:
  KeyTable() = default;
  __attribute__((noinline)) void Count(bool safe) {
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    if (safe) lock.lock();
    ++keys_;  // wrong in a method
  }

 private:
  std::mutex mutex_;
  int keys_ = 0;
};

extern "C" void Keys(bool safe) {
  KeyTable table;
  const auto count = [&] {
    for (int i = 0; i < 1000; ++i) table.Count(safe);
  };
  std::thread one(count), other(count);
  one.join();
  other.join();
}

extern "C" float Sum(bool safe) {
  static auto* const workers = new tensorflow::thread::ThreadPool(
      tensorflow::Env::Default(), "workers", 4);
  const std::vector<float> values(1000, 1.0f);
  float total = 0;
  std::mutex mutex;
  tensorflow::Shard(4, workers, values.size(), 1'000'000,
                    [&](int64_t begin, int64_t end) {
                      std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
                      if (safe) lock.lock();
                      // Long enough for another thread to take a shard.
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      for (int64_t i = begin; i < end; ++i) {
                        total += values[i];  // wrong without the lock
                      }
                    });
  return total;
}

extern "C" int Cancel(bool safe) {
  tensorflow::CancellationManager manager;
  int value = 0, seen = 0;
  // Relaxed, so that only TensorFlow orders the two threads.
  std::atomic<bool> registered{false};
  std::thread other([&] {
    while (!registered.load(std::memory_order_relaxed)) {
      std::this_thread::yield();
    }
    manager.StartCancel();
  });
  value = 1;
  manager.RegisterCallback(manager.get_cancellation_token(),
                           [&] { seen = value; });
  registered.store(true, std::memory_order_relaxed);
  if (!safe) value = 2;  // wrong once it is registered
  other.join();
  return seen;
}
