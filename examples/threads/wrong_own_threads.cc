// Work for threads that TensorFlow knows nothing of.

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace op_by_op {

using Work = std::function<void(int64_t begin, int64_t end)>;

// [std_thread] Each thread has as many blocks as the others.
void WithThreads(const Work& work, int64_t blocks, int64_t count) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int64_t t = 0; t < count; ++t) {
    threads.emplace_back(work, blocks * t / count, blocks * (t + 1) / count);
  }
  for (std::thread& thread : threads) thread.join();
}

// Likewise.
void WithOpenMp(const Work& work, int64_t blocks, int64_t count) {
#pragma omp parallel for num_threads(count)
  for (int64_t b = 0; b < blocks; ++b) work(b, b + 1);
}

}  // namespace op_by_op
