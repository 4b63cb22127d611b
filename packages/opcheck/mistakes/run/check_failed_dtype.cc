// [wrong]
void wrong(OpKernelContext* ctx) {
  auto values = ctx->input(0).flat<double>();
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  auto values = ctx->input(0).flat<float>();
  ctx->set_output(0, ctx->input(0));
}
