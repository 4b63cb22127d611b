// PsRoiAlign on the GPU: TensorFlow's side. No CUDA header, so g++ compiles it.

#include "ps_roi_align_gpu.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ps_roi_align.h"
#include "ps_roi_align_op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "xla/stream_executor/stream.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;

// A launch returns before the work is done, and rois are not read here.
struct Gpu {
  static absl::Status Plan(const float*, Sizes* sizes, int64_t*) {
    sizes->most_pixels = std::max({sizes->height, sizes->width, int64_t{1}});
    return absl::OkStatus();
  }

  template <typename T>
  static absl::Status Run(OpKernelContext* context, const Align<T>& align,
                          int64_t) {
    return Launched(PsRoiAlignLaunch(Stream(context), Type<T>(), &align));
  }

  template <typename T>
  static absl::Status RunGrad(OpKernelContext* context,
                              const AlignGrad<T>& grad, int64_t) {
    return Launched(PsRoiAlignGradLaunch(Stream(context), Type<T>(), &grad));
  }

  // The launchers know the types by number.
  template <typename T>
  static constexpr int Type() {
    constexpr tensorflow::DataType kType = tensorflow::DataTypeToEnum<T>::value;
    return kType == tensorflow::DT_HALF       ? 0
           : kType == tensorflow::DT_BFLOAT16 ? 1
           : kType == tensorflow::DT_FLOAT    ? 2
                                              : 3;
  }

  static void* Stream(OpKernelContext* context) {
    return context->op_device_context()
        ->stream()
        ->platform_specific_handle()
        .stream;
  }

  static absl::Status Launched(const char* error) {
    return error == nullptr
               ? absl::OkStatus()
               : absl::InternalError(absl::StrCat("CUDA says: ", error));
  }
};

// The host needs to know feature_shape, so it stays there.
#define REGISTER_PS_ROI_ALIGN_ON_GPU(T)                       \
  REGISTER_KERNEL_BUILDER(Name("PsRoiAlign")                  \
                              .Device(tensorflow::DEVICE_GPU) \
                              .TypeConstraint<T>("T"),        \
                          PsRoiAlignOp<Gpu, T>);              \
  REGISTER_KERNEL_BUILDER(Name("PsRoiAlignGrad")              \
                              .Device(tensorflow::DEVICE_GPU) \
                              .TypeConstraint<T>("T")         \
                              .HostMemory("feature_shape"),   \
                          PsRoiAlignGradOp<Gpu, T>)
REGISTER_PS_ROI_ALIGN_ON_GPU(Eigen::half);
REGISTER_PS_ROI_ALIGN_ON_GPU(tensorflow::bfloat16);
REGISTER_PS_ROI_ALIGN_ON_GPU(float);
REGISTER_PS_ROI_ALIGN_ON_GPU(double);

}  // namespace
}  // namespace op_by_op
