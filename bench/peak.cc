// How many multiplications and additions the processor can do: fused
// multiply-adds of numbers that never leave the registers.

#include <chrono>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
typedef float Packet __attribute__((vector_size(4 * kWidth)));
constexpr int kChains = 12;  // each waits for itself alone

float Compute(long steps, float factor, float term) {
  Packet chains[kChains];
  for (Packet& chain : chains) chain = Packet{} + term;
  const Packet factors = Packet{} + factor, terms = Packet{} + term;
  for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chains[i] = chains[i] * factors + terms;
    }
  }
  float sum = 0;
  for (const Packet& chain : chains) sum += chain[0];
  return sum;
}

}  // namespace

// 10^9 operations in a second, by so many threads with so many steps each.
extern "C" double peak(int threads, long steps) {
  std::vector<std::thread> workers;
  std::vector<float> sums(threads);
  const auto start = std::chrono::steady_clock::now();
  for (float& sum : sums) {
    workers.emplace_back([&] { sum = Compute(steps, 0.5f, 1.0f); });
  }
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  for (const float sum : sums) {
    if (sum != 2.0f * kChains) return 0;
  }
  return 2e-9 * kWidth * kChains * steps * threads / seconds.count();
}
