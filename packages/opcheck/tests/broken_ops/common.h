// What the ops of this folder share: names, errors that name the input, and a
// macro that registers a kernel.

#ifndef TESTS_BROKEN_OPS_COMMON_H_
#define TESTS_BROKEN_OPS_COMMON_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

// A kernel for one type; the class comes last because its template arguments
// hold commas.
#define OP_BY_OP_KERNEL(NAME, T, ...)                                   \
  REGISTER_KERNEL_BUILDER(                                              \
      Name(NAME).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      __VA_ARGS__)

namespace op_by_op {

using tensorflow::Tensor;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

inline absl::Status WrongRank(absl::string_view name, int wanted, int rank) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must have rank ", wanted, ", not ", rank));
}

// In a shape function.
inline absl::Status HasRank(InferenceContext* c, int input,
                            absl::string_view name, int rank,
                            ShapeHandle* shape) {
  if (c->WithRank(c->input(input), rank, shape).ok()) return absl::OkStatus();
  return WrongRank(name, rank, c->Rank(c->input(input)));
}

// In a kernel.
inline absl::Status HasRank(const Tensor& tensor, absl::string_view name,
                            int rank) {
  if (tensor.dims() == rank) return absl::OkStatus();
  return WrongRank(name, rank, tensor.dims());
}

}  // namespace op_by_op

#endif  // TESTS_BROKEN_OPS_COMMON_H_
