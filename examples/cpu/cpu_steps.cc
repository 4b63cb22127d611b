// The steps on the way to the kernel of ManhattanDistances, and their
// counter-experiments. All give the same bits if there are whole panels: the
// number of centers is a multiple of 32. Without TensorFlow, so that
// `bench/cpu.py` can compile this file with one option after the other.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu_panels.h"

// points: [n, size], centers: [count, size], distances: [n, count].
#define ARGUMENTS(CENTERS)                                                    \
  const float *__restrict points, const float *__restrict CENTERS, int64_t n, \
      int64_t count, int64_t size, float *__restrict distances

extern "C" {

// [plain] centers: [count, size].
void Plain(const float* points, const float* centers, int64_t n, int64_t count,
           int64_t size, float* distances) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      float sum = 0;
      for (int64_t d = 0; d < size; ++d) {
        sum += std::abs(points[i * size + d] - centers[j * size + d]);
      }
      distances[i * count + j] = sum;
    }
  }
}

// []
// Four additions that do not wait for each other.
void FourSums(ARGUMENTS(centers)) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j + 4 <= count; j += 4) {
      float sums[4] = {};
      for (int64_t d = 0; d < size; ++d) {
        for (int64_t k = 0; k < 4; ++k) {
          sums[k] +=
              std::abs(points[i * size + d] - centers[(j + k) * size + d]);
        }
      }
      std::copy_n(sums, 4, distances + i * count + j);
    }
  }
}

// columns: [size, count].
void Transpose(const float* centers, int64_t count, int64_t size,
               float* columns) {
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t d = 0; d < size; ++d) {
      columns[d * count + j] = centers[j * size + d];
    }
  }
}

// [side] columns: [size, count], the transposed centers.
void SideBySide(const float* points, const float* columns, int64_t n,
                int64_t count, int64_t size, float* __restrict distances) {
  for (int64_t i = 0; i < n; ++i) {
    float* sums = distances + i * count;
    std::fill_n(sums, count, 0.0f);
    for (int64_t d = 0; d < size; ++d) {
      const float x = points[i * size + d];
      const float* row = columns + d * count;
      for (int64_t j = 0; j < count; ++j) sums[j] += std::abs(x - row[j]);
    }
  }
}

// []
OP_BY_OP_CLONES void SideBySideClones(ARGUMENTS(columns)) {
  for (int64_t i = 0; i < n; ++i) {
    float* sums = distances + i * count;
    std::fill_n(sums, count, 0.0f);
    for (int64_t d = 0; d < size; ++d) {
      const float x = points[i * size + d];
      const float* row = columns + d * count;
      for (int64_t j = 0; j < count; ++j) sums[j] += std::abs(x - row[j]);
    }
  }
}

// Panels that are not copied: their rows are as far apart as those of columns.
OP_BY_OP_CLONES void NotPacked(ARGUMENTS(columns)) {
  using op_by_op::kPanel;
  for (int64_t first = 0; first + kPanel <= count; first += kPanel) {
    for (int64_t i = 0; i < n; ++i) {
      float sums[kPanel] = {};
      for (int64_t d = 0; d < size; ++d) {
        const float x = points[i * size + d];
        const float* row = columns + d * count + first;
        for (int64_t j = 0; j < kPanel; ++j) sums[j] += std::abs(x - row[j]);
      }
      std::copy_n(sums, kPanel, distances + i * count + first);
    }
  }
}

void Pack(const float* centers, int64_t count, int64_t size, float* panels) {
  op_by_op::Pack(centers, count, size, panels);
}

int64_t PackedSize(int64_t count, int64_t size) {
  return op_by_op::PanelsOf(count) * op_by_op::kPanel * size;
}

void Panels(ARGUMENTS(panels)) {
  op_by_op::OnPanels(points, panels, 0, n, count, size, distances);
}

OP_BY_OP_CLONES void PanelsClones(ARGUMENTS(panels)) {
  op_by_op::OnPanels(points, panels, 0, n, count, size, distances);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void PanelsAvx2(ARGUMENTS(panels)) {
  op_by_op::OnPanels(points, panels, 0, n, count, size, distances);
}
#endif

}  // extern "C"
