// RoiPool on the GPU: TensorFlow's side. No CUDA header, so g++ compiles it.

#include "roi_pool_gpu.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "roi_pool_check.h"
#include "roi_pool_geometry.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tsl/profiler/lib/traceme.h"
#include "xla/stream_executor/stream.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// Everything goes where TensorFlow's own kernels go.
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

// The launchers know the types by number.
absl::Status TypeIndex(OpKernelConstruction* context, int* index) {
  tensorflow::DataType type;
  TF_RETURN_IF_ERROR(context->GetAttr("T", &type));
  *index = type == tensorflow::DT_HALF       ? 0
           : type == tensorflow::DT_BFLOAT16 ? 1
           : type == tensorflow::DT_FLOAT    ? 2
                                             : 3;
  return absl::OkStatus();
}

const float* Rois(OpKernelContext* context, int input) {
  return context->input(input).flat<float>().data();
}

// The values of rois come to the host, and this thread waits for them.
absl::Status CheckOnHost(OpKernelContext* context, const float* rois,
                         const Sizes& sizes) {
  const tsl::profiler::TraceMe traced("RoiPool waits for rois");
  tensorflow::AllocatorAttributes host;
  host.set_on_host(true);
  Tensor copy;
  TF_RETURN_IF_ERROR(context->allocate_temp(
      tensorflow::DT_FLOAT, context->input(1).shape(), &copy, host));
  TF_RETURN_IF_ERROR(Launched(RoiPoolCopyToHost(
      Stream(context), rois, copy.data(), copy.TotalBytes())));
  return CheckRois(copy.flat<float>().data(), sizes);
}

// As on the CPU, but without the values of the inputs.
class RoiPoolGpuOp : public tensorflow::OpKernel {
 public:
  explicit RoiPoolGpuOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, ReadAttrs(context, &attrs_));
    OP_REQUIRES_OK(context, context->GetAttr("check_rois", &check_rois_));
    OP_REQUIRES_OK(context, TypeIndex(context, &type_));
  }

  void Compute(OpKernelContext* context) override {
    Sizes sizes = attrs_;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadShapes(context, &sizes, &shape));
    const float* rois = Rois(context, 1);

    if (check_rois_ && sizes.num_rois > 0) {
      OP_REQUIRES_OK(context, CheckOnHost(context, rois, sizes));
    }

    // Returns before the work is done.
    Tensor* pooled = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &pooled));
    int32_t* argmax = nullptr;
    if (context->num_outputs() == 2) {
      Tensor* output = nullptr;
      OP_REQUIRES_OK(context, context->allocate_output(1, shape, &output));
      argmax = output->flat<int32_t>().data();
    }
    Tensor scratch;
    const int64_t bytes = RoiPoolScratch(type_, &sizes);
    if (bytes > 0) {  // where memory is short, the launcher does without
      tensorflow::AllocationAttributes once;
      once.retry_on_failure = false;
      context->allocate_temp(tensorflow::DT_INT8, {bytes}, &scratch, {}, once)
          .IgnoreError();
    }
    OP_REQUIRES_OK(
        context, Launched(RoiPoolLaunch(
                     Stream(context), type_, &sizes, context->input(0).data(),
                     rois, scratch.NumElements() > 0 ? scratch.data() : nullptr,
                     pooled->data(), argmax)));
  }

 private:
  Sizes attrs_{};
  bool check_rois_;
  int type_;
};

// The gradient: its memory to work in comes from TensorFlow, too.
class RoiPoolGradGpuOp : public tensorflow::OpKernel {
 public:
  explicit RoiPoolGradGpuOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("spatial_scale", &scale_));
    OP_REQUIRES_OK(context, TypeIndex(context, &type_));
  }

  void Compute(OpKernelContext* context) override {
    Sizes sizes;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, ReadGradShapes(context, &sizes, &shape));
    sizes.spatial_scale = scale_;
    Tensor* features = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &features));
    Tensor scratch;
    OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_INT8,
                                                   {RoiPoolGradScratch(&sizes)},
                                                   &scratch));
    OP_REQUIRES_OK(
        context, Launched(RoiPoolGradLaunch(
                     Stream(context), type_, &sizes, context->input(0).data(),
                     context->input(1).flat<int32_t>().data(), Rois(context, 2),
                     scratch.data(), features->data())));
  }

 private:
  float scale_;
  int type_;
};

// Without a constraint, a kernel is for every T of the op.
REGISTER_KERNEL_BUILDER(Name("RoiPool").Device(tensorflow::DEVICE_GPU),
                        RoiPoolGpuOp);
REGISTER_KERNEL_BUILDER(Name("RoiPoolInference").Device(tensorflow::DEVICE_GPU),
                        RoiPoolGpuOp);
REGISTER_KERNEL_BUILDER(Name("RoiPoolGrad")
                            .Device(tensorflow::DEVICE_GPU)
                            .HostMemory("feature_shape"),
                        RoiPoolGradGpuOp);

}  // namespace
}  // namespace op_by_op
