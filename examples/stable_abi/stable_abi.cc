// RowMedian: the median of each row and where it was, by stable_op.h.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stable_float16.h"
#include "stable_op.h"
#include "stable_parallel.h"

namespace op_by_op {
namespace {

using stable::Attrs;
using stable::Context;
using stable::Dims;
using stable::kType;
using stable::Require;
using stable::Shape;
using stable::Shapes;

// [shape] The shape of x without its last dimension, twice.
void RowMedianShape(Shapes shapes) {
  Shape rows = shapes.input(0);
  if (!rows) return;  // then TensorFlow takes the outputs as unknown
  Require(!rows->empty(), "'x' must have rank 1 or more, got a scalar");
  Require(rows->back() != 0, "'x' must have columns");
  rows->pop_back();
  shapes.output(0, rows);
  shapes.output(1, rows);
}

// [find] Where the row's median is. NaN is the median of a row that has one;
// of equal elements, the first is the smallest.
template <class T>
int64_t Find(const T* row, int64_t columns, int64_t middle, int32_t* order) {
  for (int32_t i = 0; i < columns; ++i) {
    if (row[i] != row[i]) return i;
    order[i] = i;
  }
  std::nth_element(order, order + middle, order + columns,
                   [row](int32_t a, int32_t b) {
                     return row[a] < row[b] || (row[a] == row[b] && a < b);
                   });
  return order[middle];
}

// [kernel] Orders the numbers of the columns, not the row itself.
template <class T, class Index>
class RowMedian {
 public:
  explicit RowMedian(const Attrs& attrs) : upper_(attrs.get<bool>("upper")) {}

  void Compute(const Context& context) const {
    const auto x = context.input<T>(0);
    Dims rows = x.shape();
    Require(!rows.empty(), "'x' must have rank 1 or more, got a scalar");
    const int64_t columns = rows.back();
    Require(0 < columns && columns <= INT32_MAX,
            "'x' must have 1 to 2**31 - 1 columns, got the shape ", rows);
    rows.pop_back();
    const auto median = context.output<T>(0, rows);
    const auto index = context.output<Index>(1, rows);
    const int64_t middle = upper_ ? columns / 2 : (columns - 1) / 2;
    stable::Parallel(median.size, 1 + 20'000 / columns,
                     [&](int64_t begin, int64_t end) {
                       std::vector<int32_t> order(columns);
                       for (int64_t r = begin; r < end; ++r) {
                         const T* const row = &x[r * columns];
                         index[r] = Find(row, columns, middle, order.data());
                         median[r] = row[index[r]];
                       }
                     });
  }

 private:
  const bool upper_;
};

// [register] The interface, and a kernel for each pair of types.
template <class T>
void RegisterKernels() {
  stable::RegisterKernel<RowMedian<T, int32_t>>(
      "RowMedian", {{"T", kType<T>}, {"index_type", TF_INT32}});
  stable::RegisterKernel<RowMedian<T, int64_t>>(
      "RowMedian", {{"T", kType<T>}, {"index_type", TF_INT64}});
}

__attribute__((constructor)) void Register() {
  stable::RegisterOp<RowMedianShape>(
      "RowMedian", {"x: T"}, {"median: T", "index: index_type"},
      {"T: {half, bfloat16, float, double, int32, int64}",
       "index_type: {int32, int64} = DT_INT64", "upper: bool = false"});
  RegisterKernels<stable::half>();
  RegisterKernels<stable::bfloat16>();
  RegisterKernels<float>();
  RegisterKernels<double>();
  RegisterKernels<int32_t>();
  RegisterKernels<int64_t>();
}

}  // namespace
}  // namespace op_by_op
