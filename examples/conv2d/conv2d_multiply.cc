// The product of conv2d_multiply.h. Compiled for each kind of processor, with
// OP_BY_OP_PATH its name and the compiler's flags its instructions. Nothing
// inline that other files use may be called here: the linker would keep one
// copy for all of them.

#include "conv2d_multiply.h"

#include <cstdint>
#include <cstring>

namespace op_by_op {
namespace OP_BY_OP_PATH {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64, kRows = 14;  // 28 of 32 registers hold sums
#elif defined(__AVX2__)
constexpr int kBytes = 32, kRows = 6;  // 12 of 16
#else
constexpr int kBytes = 16, kRows = 6;
#endif

// The compiler's own vectors: on any processor.
template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
};
template <typename T>
constexpr int64_t kLanes = kBytes / sizeof(T);

int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// [tile] Some rows of a panel of the result: the sums stay in registers.
template <typename T, int rows>
void Tile(const Product<T>& p, const T* a, const T* b, T* out,
          int64_t columns) {
  using Vector = typename VectorOf<T>::type;
  Vector sums[rows][2] = {};
  for (int64_t i = 0; i < p.i.count; ++i) {
    for (int64_t j = 0; j < p.j.count; ++j) {
      const T* numbers = a + i * p.i.in_a + j * p.j.in_a;
      const T* vectors = b + i * p.i.in_b + j * p.j.in_b;
      for (int64_t k = 0; k < p.k; ++k) {
        Vector left, right;
        std::memcpy(&left, vectors, kBytes);
        std::memcpy(&right, vectors + kLanes<T>, kBytes);
#pragma GCC unroll 14
        for (int r = 0; r < rows; ++r) {
          sums[r][0] += numbers[r * p.row] * left;
          sums[r][1] += numbers[r * p.row] * right;
        }
        numbers += p.next;
        vectors += 2 * kLanes<T>;
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    T found[2 * kLanes<T>];
    std::memcpy(found, sums[r], sizeof(found));
    T* to = out + r * p.out_row;
    for (int64_t n = 0; n < columns; ++n) {
      to[n] = p.add ? to[n] + found[n] : found[n];
    }
  }
}

// All rows: as many at a time as there are registers for, then fewer.
template <typename T, int rows = kRows>
void Panel(const Product<T>& p, int64_t row, const T* b, T* out,
           int64_t columns) {
  for (; row + rows <= p.rows; row += rows) {
    Tile<T, rows>(p, p.a + row * p.row, b, out + row * p.out_row, columns);
  }
  if constexpr (rows > 1) Panel<T, rows / 2>(p, row, b, out, columns);
}

template <typename T>
void Panels(const Product<T>& p) {
  constexpr int64_t kWidth = 2 * kLanes<T>;
  const T* b = p.b;
  for (int64_t n = 0; n < p.columns; n += kWidth, b += p.panel) {
    Panel<T>(p, 0, b, p.out + n, Least(p.columns - n, kWidth));
  }
}

// A long sum would lose digits of what is added to it: it is cut into runs of
// at most so many products, whose sums are added.
constexpr int64_t kRun = 1024;

template <typename T>
void Multiply(const Product<T>& p) {
  const int64_t k = Least(p.k, kRun);
  const int64_t j = Least(p.j.count, kRun / k);
  const int64_t i = Least(p.i.count, kRun / (j > 0 ? j * k : 1));
  Product<T> run = p;
  int64_t y = 0;
  do {
    run.i.count = Least(i, p.i.count - y);
    int64_t x = 0;
    do {
      run.j.count = Least(j, p.j.count - x);
      int64_t z = 0;
      do {
        run.k = Least(k, p.k - z);
        run.a = p.a + y * p.i.in_a + x * p.j.in_a + z * p.next;
        run.b = p.b + y * p.i.in_b + x * p.j.in_b + z * 2 * kLanes<T>;
        Panels(run);
        run.add = true;
      } while ((z += k) < p.k);
    } while ((x += j) < p.j.count);
  } while ((y += i) < p.i.count);
}

}  // namespace

// What the other files see.
template <typename T>
Multiplier<T> GetMultiplier() {
  return {2 * kLanes<T>, Multiply<T>};
}

template Multiplier<float> GetMultiplier<float>();
template Multiplier<double> GetMultiplier<double>();

}  // namespace OP_BY_OP_PATH
}  // namespace op_by_op
