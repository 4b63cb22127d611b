// Today's spelling of each function of the table.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

// Each function on lines of its own, for the table.
// clang-format off
namespace op_by_op {

using tensorflow::FunctionDef;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

absl::Status InvalidArgument(int n) {
  return absl::InvalidArgumentError(absl::StrCat("bad size ", n));
}

absl::Status NotFound(const std::string& name) {
  return absl::NotFoundError(absl::StrCat("no file ", name));
}

absl::Status Internal(int n) {
  return absl::InternalError(absl::StrCat("lost ", n));
}

absl::Status Unimplemented(int n) {
  return absl::UnimplementedError(absl::StrCat("no kernel for rank ", n));
}

absl::Status StatusOK() {
  return absl::OkStatus();
}

std::string ErrorMessage(const absl::Status& status) {
  return std::string(status.message());
}

bool Code(const absl::Status& status) {
  return status.code() == absl::StatusCode::kNotFound;
}

size_t StringPiece() {
  absl::string_view text;
  return text.size();
}

int64_t Int64() {
  int64_t n = 0;
  return n;
}

size_t String() {
  std::string text;
  return text.size();
}

size_t ArraySlice() {
  absl::Span<const int> values;
  return values.size();
}

std::string StrCat(int n) {
  return absl::StrCat("n = ", n);
}

struct Persistent {
  Tensor kept;
};

absl::Status AllocatePersistent(OpKernelContext* context, Tensor* kept) {
  return context->allocate_temp(tensorflow::DT_FLOAT, {2}, kept);
}

struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

void Lock() {
  absl::Mutex mutex;
  absl::MutexLock lock(mutex);
}

FunctionDef Define() {
  using FDH = tensorflow::FunctionDefHelper;
  return FDH::Create("SquareGrad", {"x: float", "dy: float"}, {"dx: float"}, {},
                     {{{"m"}, "Mul", {"x", "dy"}, {{"T", tensorflow::DT_FLOAT}}}},
                     {{"dx", "m:z:0"}});
}

}  // namespace op_by_op
