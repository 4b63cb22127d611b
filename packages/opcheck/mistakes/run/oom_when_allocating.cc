// [wrong]
void wrong(OpKernelContext* ctx) {
  const int64_t rows = ctx->input(0).dim_size(0);
  Tensor* y = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows << 45}, &y));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const int64_t rows = ctx->input(0).dim_size(0);
  Tensor* y = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows * 40}, &y));
}
