// [wrong]
bool wrong(tensorflow::OpKernelContext* ctx) {
  return ctx->device()->tensorflow_gpu_device_info() != nullptr;
}
// [cured]
bool cured(tensorflow::OpKernelContext* ctx) {
  return ctx->device()->tensorflow_accelerator_device_info() != nullptr;
}
