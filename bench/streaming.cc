// The least that a kernel can do: read so many bytes and write so many bytes,
// in the order of the addresses. bench/roi_pool.py times it to know what the
// machine's memory allows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

// Vectors of the compiler's, of 64 bytes: as many instructions as it takes.
using Vector = uint64_t __attribute__((vector_size(64)));

uint64_t Read(const char* in, size_t size) {
  Vector sums[4] = {};
  for (size_t i = 0; i + sizeof(sums) <= size; i += sizeof(sums)) {
    for (int j = 0; j < 4; ++j) {
      Vector loaded;
      std::memcpy(&loaded, in + i + j * sizeof(Vector), sizeof(Vector));
      sums[j] ^= loaded;
    }
  }
  const Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  uint64_t all = 0;
  for (int j = 0; j < 8; ++j) all ^= sum[j];
  return all;
}

void Write(char* out, size_t size, uint64_t value) {
  for (size_t i = 0; i + sizeof(value) <= size; i += sizeof(value)) {
    std::memcpy(out + i, &value, sizeof(value));
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void Stream512(char* out, size_t size,
                                                  uint64_t value) {
  const __m512i filled = _mm512_set1_epi64(value);
  for (size_t i = 0; i + 64 <= size; i += 64) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), filled);
  }
}

void Stream128(char* out, size_t size, uint64_t value) {
  const __m128i filled = _mm_set1_epi64x(value);
  for (size_t i = 0; i + 16 <= size; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), filled);
  }
}

void Stream(char* out, size_t size, uint64_t value) {
  __builtin_cpu_supports("avx512f") ? Stream512(out, size, value)
                                    : Stream128(out, size, value);
  _mm_sfence();
}
#else
void Stream(char* out, size_t size, uint64_t value) { Write(out, size, value); }
#endif

// In turns of this many bytes, so that reads and writes overlap.
constexpr size_t kTurn = 4096;

uint64_t Part(const char* in, size_t in_size, size_t times, char* out,
              size_t out_size, bool streaming) {
  const size_t all = in_size * times;
  const size_t turns = (all > out_size ? all : out_size) / kTurn + 1;
  const auto at = [turns](size_t size, size_t turn) {
    return static_cast<size_t>(static_cast<double>(size) * turn / turns) / 64 *
           64;
  };
  uint64_t sum = 0;
  for (size_t turn = 0; turn < turns; ++turn) {
    const size_t to = at(all, turn + 1);
    for (size_t from = at(all, turn); from < to;) {
      const size_t start = from % in_size;
      const size_t size = std::min(to - from, in_size - start);
      sum ^= Read(in + start, size);
      from += size;
    }
    const size_t first = at(out_size, turn), last = at(out_size, turn + 1);
    (streaming ? Stream : Write)(out + first, last - first, sum);
  }
  return sum;
}

}  // namespace

// Reads `in_size` bytes so many times and writes `out_size` bytes, with so many
// threads. Both buffers begin at a multiple of 64 bytes.
extern "C" uint64_t ReadAndWrite(const char* in, size_t in_size, size_t times,
                                 char* out, size_t out_size, int num_threads,
                                 int streaming) {
  std::vector<uint64_t> sums(num_threads);
  const auto run = [&](int i) {
    const auto at = [&](size_t size, int part) {
      return size / num_threads / 64 * 64 * part;
    };
    sums[i] = Part(in + at(in_size, i), at(in_size, 1), times,
                   out + at(out_size, i), at(out_size, 1), streaming != 0);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < num_threads; ++i) threads.emplace_back(run, i);
  run(0);
  for (std::thread& thread : threads) thread.join();
  uint64_t sum = 0;
  for (const uint64_t each : sums) sum ^= each;
  return sum;
}
