// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  float* x = ctx->input(0).flat<float>().data();
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  const float* x = ctx->input(0).flat<float>().data();
}
