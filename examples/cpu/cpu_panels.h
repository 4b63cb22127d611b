// The kernel of ManhattanDistances, which its steps and its bench use, too.

#ifndef OP_BY_OP_EXAMPLES_CPU_CPU_PANELS_H_
#define OP_BY_OP_EXAMPLES_CPU_CPU_PANELS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace op_by_op {

// [clones] On Linux, one copy of a function for each kind of processor. The
// dynamic linker takes the best one when it loads the library.
#if defined(__x86_64__) && defined(__linux__)
#define OP_BY_OP_CLONES \
  __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define OP_BY_OP_CLONES
#endif

// Into each clone, with the instructions of that clone.
#define OP_BY_OP_INLINE inline __attribute__((always_inline))

// [pack] Panels of 32 centers: [panels, size, 32], the last filled with zeros.
constexpr int64_t kPanel = 32;

inline int64_t PanelsOf(int64_t count) { return (count + kPanel - 1) / kPanel; }

inline void Pack(const float* centers, int64_t count, int64_t size,
                 float* panels) {
  for (int64_t j = 0; j < PanelsOf(count) * kPanel; ++j) {
    float* column = panels + j / kPanel * size * kPanel + j % kPanel;
    for (int64_t d = 0; d < size; ++d) {
      column[d * kPanel] = j < count ? centers[j * size + d] : 0.0f;
    }
  }
}

// [panels] All points against one panel, then against the next.
OP_BY_OP_INLINE void OnPanels(const float* points, const float* panels,
                              int64_t begin, int64_t end, int64_t count,
                              int64_t size, float* distances) {
  for (int64_t first = 0; first < count; first += kPanel) {
    for (int64_t i = begin; i < end; ++i) {
      float sums[kPanel] = {};
      for (int64_t d = 0; d < size; ++d) {
        const float x = points[i * size + d];
        const float* row = panels + first * size + d * kPanel;
        for (int64_t j = 0; j < kPanel; ++j) sums[j] += std::abs(x - row[j]);
      }
      std::copy_n(sums, std::min(kPanel, count - first),
                  distances + i * count + first);
    }
  }
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_CPU_CPU_PANELS_H_
