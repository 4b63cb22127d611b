// [wrong]
void wrong(OpKernelContext* ctx) {
  const Tensor& weights = ctx->input(1);
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const Tensor& weights = ctx->input(0);
  ctx->set_output(0, ctx->input(0));
}
