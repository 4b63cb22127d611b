// Rows of a ragged tensor, and one of them sorted.

#ifndef OP_BY_OP_EXAMPLES_THREADS_SORT_ROWS_H_
#define OP_BY_OP_EXAMPLES_THREADS_SORT_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {

// Whether row_splits cuts values into rows, as tf.RaggedTensor has them.
inline absl::Status CheckRows(const tensorflow::Tensor& values,
                              const tensorflow::Tensor& row_splits) {
  if (values.dims() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "values must be a vector, got shape ", values.shape().DebugString()));
  }
  if (row_splits.dims() != 1 || row_splits.NumElements() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_splits must be a vector with elements, got shape ",
                     row_splits.shape().DebugString()));
  }
  const auto splits = row_splits.vec<int64_t>();
  const int64_t rows = splits.size() - 1;
  for (int64_t r = 0; r < rows; ++r) {
    if (splits(r + 1) < splits(r)) {
      return absl::InvalidArgumentError(
          absl::StrCat("row_splits must not decrease, got ", splits(r + 1),
                       " after ", splits(r)));
    }
  }
  if (splits(0) != 0 || splits(rows) != values.NumElements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_splits must go from 0 to the ", values.NumElements(),
                     " values, got ", splits(0), " to ", splits(rows)));
  }
  return absl::OkStatus();
}

// The row from splits[0] to splits[1].
inline void SortRow(const int64_t* values, const int64_t* splits,
                    int64_t* sorted) {
  std::copy(values + splits[0], values + splits[1], sorted + splits[0]);
  std::sort(sorted + splits[0], sorted + splits[1]);
}

constexpr int64_t kCyclesOfValue = 100;

// [values] Calls sort(row, begin) for all rows but the empty ones at the end. A
// row belongs to the block of values that it begins in. That begins at `begin`.
template <typename Sort>
void ShareValues(const tensorflow::DeviceBase::CpuWorkerThreads& pool,
                 const int64_t* splits, int64_t rows, const Sort& sort) {
  const int64_t* last = splits + rows;
  tensorflow::Shard(pool.num_threads, pool.workers, *last, kCyclesOfValue,
                    [&](int64_t begin, int64_t end) {
                      const int64_t* row =
                          std::lower_bound(splits, last, begin);
                      for (; row < last && *row < end; ++row) sort(row, begin);
                    });
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_THREADS_SORT_ROWS_H_
