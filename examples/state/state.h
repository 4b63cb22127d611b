// KeyTable: numbers keys in the order in which they come first.

#ifndef OP_BY_OP_EXAMPLES_STATE_STATE_H_
#define OP_BY_OP_EXAMPLES_STATE_STATE_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_base.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/tstring.h"

namespace op_by_op {

// How a key is stored. A copy of a tstring may be a view of what others own.
template <typename T>
struct Stored {
  using Key = T;
};
template <>
struct Stored<tensorflow::tstring> {
  using Key = std::string;
};

// A key in a message, which Python takes as UTF-8; a string may be any bytes.
inline int64_t Quoted(int64_t key) { return key; }
inline std::string Quoted(const std::string& key) {
  return absl::CHexEscape(key);
}

// [table] Outlives the calls, which may come from several threads.
template <typename T>
class KeyTable : public tensorflow::ResourceBase {
 public:
  // Writes the number of each key. A new key is added, or gets -1.
  void Number(absl::Span<const T> keys, bool add, int64_t* numbers) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const T& key : keys) {
      if (add) {
        const auto entry = numbers_.try_emplace(key, numbers_.size()).first;
        *numbers++ = entry->second;
      } else {
        const auto entry = numbers_.find(key);
        *numbers++ = entry == numbers_.end() ? -1 : entry->second;
      }
    }
  }

  int64_t Size() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return numbers_.size();
  }

  std::string DebugString() const override {
    return absl::StrCat("KeyTable of ", Size(), " keys");
  }

  // All keys, in the order of their numbers.
  std::vector<T> Keys() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<T> keys(numbers_.size());
    for (const auto& [key, number] : numbers_) keys[number] = key;
    return keys;
  }

  // Replaces all keys.
  absl::Status SetKeys(absl::Span<const T> keys) {
    Numbers numbers;
    for (const T& key : keys) {
      const auto [at, added] = numbers.try_emplace(key, numbers.size());
      if (!added) {
        return absl::InvalidArgumentError(absl::StrCat(
            "keys must be unique, got ", Quoted(at->first), " twice"));
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    numbers_.swap(numbers);  // the old map dies after the lock is released
    return absl::OkStatus();
  }

 private:
  // [members] The map, and the mutex that guards it.
  using Numbers = absl::flat_hash_map<typename Stored<T>::Key, int64_t>;

  mutable std::mutex mutex_;
  Numbers numbers_ ABSL_GUARDED_BY(mutex_);
};

// [find] The table of the first input; a reference is held while it is used.
template <typename T>
absl::Status FindTable(tensorflow::OpKernelContext* context,
                       tensorflow::core::RefCountPtr<KeyTable<T>>* table) {
  const tensorflow::Tensor& handle = context->input(0);
  if (!tensorflow::TensorShapeUtils::IsScalar(handle.shape())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "table must be a scalar, got shape ", handle.shape().DebugString()));
  }
  return tensorflow::LookupResource(
      context, handle.scalar<tensorflow::ResourceHandle>()(), table);
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_STATE_STATE_H_
