// [wrong]
void wrong(OpKernelConstruction* ctx) {
  int64_t size;
  OP_REQUIRES_OK(ctx, ctx->GetAttr("sise", &size));
}
// [cured]
void cured(OpKernelConstruction* ctx) {
  int64_t size;
  OP_REQUIRES_OK(ctx, ctx->GetAttr("size", &size));
}
