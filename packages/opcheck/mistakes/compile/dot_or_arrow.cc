// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  const tensorflow::Tensor& x = ctx.input(0);
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  const tensorflow::Tensor& x = ctx->input(0);
}
