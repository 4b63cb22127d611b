// The exercise of the chapter on a fast kernel.

#include <cstdint>
#include <limits>

// [largest] The largest number of each column.
extern "C" void Largest(const float* numbers, int64_t rows, int64_t columns,
                        float* largest) {
  for (int64_t c = 0; c < columns; ++c) {
    float best = -std::numeric_limits<float>::infinity();
    for (int64_t r = 0; r < rows; ++r) {
      if (numbers[r * columns + c] > best) best = numbers[r * columns + c];
    }
    largest[c] = best;
  }
}
