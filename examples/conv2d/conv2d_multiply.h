// A product of matrices, one of which is a view of a tensor: compiled for
// several kinds of processor, of which each call takes the best.

#ifndef OP_BY_OP_EXAMPLES_CONV2D_CONV2D_MULTIPLY_H_
#define OP_BY_OP_EXAMPLES_CONV2D_CONV2D_MULTIPLY_H_

#include <cstdint>

namespace op_by_op {

// [product] out[r, n] = sum over i, j, k of a[r, i, j, k] · b[i, j, k, n]
struct Loop {
  int64_t count, in_a, in_b;  // number of steps, stride in a, stride in b
};

template <typename T>
struct Product {
  const T* a;
  int64_t rows, row;  // number of rows, stride in a
  Loop i, j;
  int64_t k, next;  // number of steps, stride in a; rows of b are contiguous
  const T* b;       // in panels of Multiplier::width columns
  int64_t panel;    // stride from panel to panel
  T* out;
  int64_t columns, out_row;  // number of columns, stride of rows in out
  bool add;                  // to the numbers in out
};

// What a kind of processor has.
template <typename T>
struct Multiplier {
  int64_t width;
  void (*multiply)(const Product<T>&);
};

namespace baseline {
template <typename T>
Multiplier<T> GetMultiplier();
}
namespace avx2 {
template <typename T>
Multiplier<T> GetMultiplier();
}
namespace avx512 {
template <typename T>
Multiplier<T> GetMultiplier();
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_CONV2D_CONV2D_MULTIPLY_H_
