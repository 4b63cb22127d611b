// What the ops of this folder share: each is registered twice from one
// template, right and with its one bug.

#ifndef TESTS_UNSEEN_PAIR_H_
#define TESTS_UNSEEN_PAIR_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../broken_ops/common.h"

// SHAPE and KERNEL are templates of `bool bug`; what follows them is the
// interface.
#define OP_PAIR(NAME, SHAPE, ...)                         \
  REGISTER_OP(NAME) __VA_ARGS__.SetShapeFn(SHAPE<false>); \
  REGISTER_OP("Buggy" NAME) __VA_ARGS__.SetShapeFn(SHAPE<true>)

#define PAIR(NAME, KERNEL, SHAPE, ...)                                       \
  OP_PAIR(NAME, SHAPE, __VA_ARGS__);                                         \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU),         \
                          KERNEL<false>);                                    \
  REGISTER_KERNEL_BUILDER(Name("Buggy" NAME).Device(tensorflow::DEVICE_CPU), \
                          KERNEL<true>)

// For a kernel that is a template of a type, too.
#define KERNEL_PAIR(NAME, T, KERNEL)          \
  OP_BY_OP_KERNEL(NAME, T, KERNEL<T, false>); \
  OP_BY_OP_KERNEL("Buggy" NAME, T, KERNEL<T, true>)

namespace op_by_op {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::tstring;

template <bool>
absl::Status FirstShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}

template <bool>
absl::Status Scalar(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

}  // namespace op_by_op

#endif  // TESTS_UNSEEN_PAIR_H_
