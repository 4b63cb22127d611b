// What the address sanitizer must report: an element that is not there, and an
// index that overflows.

#include <cstdint>
#include <vector>

extern "C" float Pick(int32_t row, int32_t columns) {
  const std::vector<float> values(3);
  const int32_t index = row * columns;  // wrong: it can overflow
  return values.data()[index];          // wrong: no check
}
