// [wrong]
void wrong(OpKernelContext* ctx) {
  Tensor* y = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(1, ctx->input(0).shape(), &y));
}
// [cured]
void cured(OpKernelContext* ctx) {
  Tensor* y = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ctx->input(0).shape(), &y));
}
