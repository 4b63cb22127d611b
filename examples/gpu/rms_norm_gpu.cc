// RmsNorm on the GPU: TensorFlow's side. No CUDA header, so g++ compiles it.

#include "rms_norm_gpu.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rms_norm_op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla/stream_executor/stream.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;

// The queue that TensorFlow's own kernels use.
void* Stream(OpKernelContext* context) {
  return context->op_device_context()
      ->stream()
      ->platform_specific_handle()
      .stream;
}

absl::Status Launched(const char* error) {
  return error == nullptr
             ? absl::OkStatus()
             : absl::InternalError(absl::StrCat("CUDA says: ", error));
}

// A one-dimensional grid has up to INT32_MAX blocks, and rms_norm.cu.cc takes
// one for each row, or none if the rows are empty.
absl::Status CheckRows(int64_t rows, int64_t columns) {
  if (rows <= INT32_MAX || columns == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "x must have at most ", INT32_MAX, " rows on a GPU, got ", rows));
}

// Checks what a launch needs, and puts the work onto the stream.
struct Gpu {
  static absl::Status Norm(OpKernelContext* context, const float* x,
                           int64_t rows, int64_t columns, float epsilon,
                           float* y) {
    TF_RETURN_IF_ERROR(CheckRows(rows, columns));
    return Launched(
        RmsNormLaunch(Stream(context), x, rows, columns, epsilon, y));
  }

  static absl::Status Grad(OpKernelContext* context, const float* x,
                           const float* grad, int64_t rows, int64_t columns,
                           float epsilon, float* result) {
    TF_RETURN_IF_ERROR(CheckRows(rows, columns));
    return Launched(RmsNormGradLaunch(Stream(context), x, grad, rows, columns,
                                      epsilon, result));
  }
};

// The classes are those of the CPU.
REGISTER_KERNEL_BUILDER(Name("RmsNorm").Device(tensorflow::DEVICE_GPU),
                        RmsNormOp<Gpu>);
REGISTER_KERNEL_BUILDER(Name("RmsNormGrad").Device(tensorflow::DEVICE_GPU),
                        RmsNormGradOp<Gpu>);

}  // namespace
}  // namespace op_by_op
