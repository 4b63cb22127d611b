// [wrong]
void wrong(OpKernelContext* ctx) {
  const Tensor* x = nullptr;
  OP_REQUIRES_OK(ctx, ctx->input("X", &x));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const Tensor* x = nullptr;
  OP_REQUIRES_OK(ctx, ctx->input("x", &x));
  ctx->set_output(0, *x);
}
