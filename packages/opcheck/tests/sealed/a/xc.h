// What the ops of this folder share.
#ifndef XC_H_
#define XC_H_

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tsl/platform/denormal.h"

namespace xc {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::tstring;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;
using tsl::port::ScopedDontFlushDenormal;

#define XC_REQUIRE(context, condition, ...) \
  OP_REQUIRES(context, condition,           \
              absl::InvalidArgumentError(absl::StrCat(__VA_ARGS__)))

#define XC_KERNEL(NAME, T, ...)                                         \
  REGISTER_KERNEL_BUILDER(                                              \
      Name(NAME).Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      __VA_ARGS__)

}  // namespace xc

#endif  // XC_H_
