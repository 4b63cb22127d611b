// The parts of a sum that threads share.

#ifndef OP_BY_OP_EXAMPLES_THREADS_SUM_OF_H_
#define OP_BY_OP_EXAMPLES_THREADS_SUM_OF_H_

#include <algorithm>
#include <cstdint>

namespace op_by_op {

// [block] Lane k has every sixteenth number from the k-th on.
template <typename T>
T SumOf(const T* x, int64_t size) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k];
  }
  for (int64_t k = 0; i + k < size; ++k) lanes[k] += x[i + k];
  T sum = 0;
  for (const T lane : lanes) sum += lane;
  return sum;
}

// Which numbers are in a block.
struct Blocks {
  static constexpr int64_t kSize = 4096;
  static constexpr int64_t kCycles = kSize / 2;  // half a cycle for a number

  explicit Blocks(int64_t total)
      : total(total), count(total / kSize + (total % kSize > 0)) {}

  int64_t begin(int64_t b) const { return b * kSize; }
  int64_t size(int64_t b) const { return std::min(kSize, total - begin(b)); }

  int64_t total, count;
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_THREADS_SUM_OF_H_
