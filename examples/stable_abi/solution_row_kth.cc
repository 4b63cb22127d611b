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
    const auto x = context.input("x");
    stable::Dims rows = x.shape();
    stable::Require(!rows.empty() && rows.back() >= k_, "'x' must have ", k_,
                    " columns or more, got the shape ", stable::Text(rows));
    const int64_t columns = rows.back();
    rows.pop_back();
    const auto kth = context.output(0, rows);
    const auto scratch = context.scratch<float>({columns});
    const auto row = scratch.flat<float>();
    const auto in = x.flat<float>();
    const auto out = kth.flat<float>();
    for (int64_t r = 0; r < out.size; ++r) {
      std::copy_n(&in[r * columns], columns, row.begin());
      std::nth_element(row.begin(), row.begin() + k_ - 1, row.end(), Less);
      out[r] = row[k_ - 1];
    }
  }

 private:
  // Not a number comes after all numbers, as in NumPy.
  static bool Less(float a, float b) { return a < b || (a == a && b != b); }

  const int64_t k_;
};

// The attr has a least value, which TensorFlow checks.
const stable::Registration registration([] {
  stable::Op("RowKth")
      .Attr("k: int >= 1 = 1")
      .Input("x: float")
      .Output("kth: float")
      .ShapeFn([](stable::Shapes shapes) {
        stable::Shape rows = shapes.input(0);
        if (!rows) return;
        stable::Require(!rows->empty(), "'x' must have columns");
        rows->pop_back();
        shapes.output(0, rows);
      })
      .Register();
  stable::Kernel<RowKth>("RowKth").Register();
});

}  // namespace
