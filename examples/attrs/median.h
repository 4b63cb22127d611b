// The median of a few values, for the ops of this folder.

#ifndef OP_BY_OP_EXAMPLES_ATTRS_MEDIAN_H_
#define OP_BY_OP_EXAMPLES_ATTRS_MEDIAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace op_by_op {

// nth_element needs an order, and < does not order NaN.
template <typename T>
T Median(T* values, int64_t count) {
  if (std::any_of(values, values + count, [](T x) { return std::isnan(x); })) {
    return std::numeric_limits<T>::quiet_NaN();
  }
  std::nth_element(values, values + count / 2, values + count);
  return values[count / 2];
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ATTRS_MEDIAN_H_
