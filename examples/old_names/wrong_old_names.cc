// Functions as older programs have them, each with the name of its row.

#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/strings/strcat.h"
#include "tensorflow/core/platform/macros.h"
#include "tensorflow/core/platform/mutex.h"

// Each function on lines of its own, for the table.
// clang-format off
namespace op_by_op {

using namespace tensorflow;

absl::Status InvalidArgument(int n) {
  return errors::InvalidArgument("bad size ", n);
}

absl::Status NotFound(const std::string& name) {
  return errors::NotFound("no file ", name);
}

absl::Status Internal(int n) {
  return errors::Internal("lost ", n);
}

absl::Status Unimplemented(int n) {
  return errors::Unimplemented("no kernel for rank ", n);
}

absl::Status StatusOK() {
  return Status::OK();
}

std::string ErrorMessage(const absl::Status& status) {
  return status.error_message();
}

bool Code(const absl::Status& status) {
  return status.code() == error::NOT_FOUND;
}

size_t StringPiece() {
  tensorflow::StringPiece text;
  return text.size();
}

int64_t Int64() {
  tensorflow::int64 n = 0;
  return n;
}

size_t String() {
  tensorflow::string text;
  return text.size();
}

size_t ArraySlice() {
  gtl::ArraySlice<int> values;
  return values.size();
}

std::string StrCat(int n) {
  return strings::StrCat("n = ", n);
}

struct Persistent {
  PersistentTensor kept;
};

absl::Status AllocatePersistent(OpKernelContext* context, Tensor* kept) {
  return context->allocate_persistent(DT_FLOAT, {2}, kept, nullptr);
}

struct NotCopied {
  NotCopied() = default;
  TF_DISALLOW_COPY_AND_ASSIGN(NotCopied);
};

void Lock() {
  tensorflow::mutex mutex;
  tensorflow::mutex_lock lock(mutex);
}

FunctionDef Define() {
  using FDH = FunctionDefHelper;
  return FDH::Define({"x: float", "dy: float"}, {"dx: float"}, {},
                     {{{"dx"}, "Mul", {"x", "dy"}, {{"T", DT_FLOAT}}}});
}

}  // namespace op_by_op
