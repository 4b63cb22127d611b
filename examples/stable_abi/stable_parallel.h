// stable_parallel.h: all cores for stable_op.h.

#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace stable {

// f(begin, end) for all of 0 to n, at least `grain` at once. Starts new threads
// in each call, whatever TensorFlow's settings: the C API has no pool. So let a
// part work for a millisecond or so. f may throw.
template <class F>
void Parallel(int64_t n, int64_t grain, F f) {
  if (n == 0) return;
  static const int64_t cores = std::thread::hardware_concurrency();  // slow
  const int64_t wanted = std::min(n / std::max<int64_t>(grain, 1), cores);
  const int64_t parts = std::max<int64_t>(wanted, 1);
  std::vector<std::future<void>> others;  // whose destructors wait
  for (int64_t i = 1; i < parts; ++i) {
    others.push_back(
        std::async(std::launch::async, f, n * i / parts, n * (i + 1) / parts));
  }
  f(int64_t{0}, n / parts);
  for (auto& other : others) other.get();
}

}  // namespace stable
