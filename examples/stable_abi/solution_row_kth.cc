// RowKth: the k-th smallest element of each row. The solution of the exercise.

#include <algorithm>
#include <vector>

#include "stable_op.h"

namespace {

// Reads the attr in the constructor, compares it with the input later.
class RowKth {
 public:
  explicit RowKth(const stable::Attrs& attrs) : k_(attrs.get<int64_t>("k")) {}

  void Compute(const stable::Context& context) const {
    const auto x = context.input<float>(0);
    stable::Dims rows = x.shape();
    stable::Require(!rows.empty() && rows.back() >= k_, "'x' must have ", k_,
                    " columns or more, got the shape ", rows);
    const int64_t columns = rows.back();
    rows.pop_back();
    const auto kth = context.output<float>(0, rows);
    if (kth.size == 0) return;
    const auto row = context.scratch<float>({columns});
    for (int64_t r = 0; r < kth.size; ++r) {
      std::copy_n(&x[r * columns], columns, row.begin());
      std::nth_element(row.begin(), row.begin() + k_ - 1, row.end(), Less);
      kth[r] = row[k_ - 1];
    }
  }

 private:
  // NaN comes after all numbers, as in NumPy.
  static bool Less(float a, float b) { return a < b || (a == a && b != b); }

  const int64_t k_;
};

void RowKthShape(stable::Shapes shapes) {
  stable::Shape rows = shapes.input(0);
  if (!rows) return;
  stable::Require(!rows->empty() && rows->back() != 0, "'x' must have columns");
  rows->pop_back();
  shapes.output(0, rows);
}

// The attr has a minimum, which TensorFlow checks.
__attribute__((constructor)) void Register() {
  stable::RegisterOp<RowKthShape>("RowKth", {"x: float"}, {"kth: float"},
                                  {"k: int >= 1 = 1"});
  stable::RegisterKernel<RowKth>("RowKth");
}

}  // namespace
