// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  auto& device = ctx->eigen_sycl_device();
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  auto& device = ctx->eigen_cpu_device();
}
