// An x_gpu.cc, GPU_SOURCE, for tests without a GPU. Its kernels get the label
// "on_host", and are registered for the CPU, too; there, a stream is a number.

#include "tensorflow/core/framework/op_kernel.h"
#include "tsl/profiler/lib/traceme.h"
#include "xla/stream_executor/stream.h"

extern "C" __attribute__((visibility("default"))) const int64_t kStream = 4711;

namespace op_by_op {

// What it calls of a device and its stream.
struct StreamOnHost {
  struct Handle {
    void* stream;
  };
  Handle platform_specific_handle() const {
    return {reinterpret_cast<void*>(kStream)};
  }
};

struct DeviceOnHost : tensorflow::DeviceContext {
  using DeviceContext::stream;
  StreamOnHost* stream() { return &stream_on_host; }
  StreamOnHost stream_on_host;
};

template <typename Op>
struct OnHost : Op {
  using Op::Op;
  void Compute(tensorflow::OpKernelContext* context) override {
    static auto* const device = new DeviceOnHost;
    context->params()->op_device_context = device;
    Op::Compute(context);
    context->params()->op_device_context = nullptr;
  }
};

}  // namespace op_by_op

#define op_device_context() op_device_context<op_by_op::DeviceOnHost>()
#undef REGISTER_KERNEL_BUILDER
#define REGISTER_KERNEL_BUILDER(builder, ...)                                 \
  REGISTER_KERNEL_BUILDER_IMPL(builder.Label("on_host"), false, __VA_ARGS__); \
  REGISTER_KERNEL_BUILDER_IMPL(                                               \
      builder.Label("on_host").Device(tensorflow::DEVICE_CPU), false,         \
      op_by_op::OnHost<__VA_ARGS__>)

#include GPU_SOURCE
