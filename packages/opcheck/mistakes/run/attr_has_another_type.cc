// [wrong]
void wrong(OpKernelConstruction* ctx) {
  int64_t mode;
  OP_REQUIRES_OK(ctx, ctx->GetAttr("mode", &mode));
}
// [cured]
void cured(OpKernelConstruction* ctx) {
  std::string mode;
  OP_REQUIRES_OK(ctx, ctx->GetAttr("mode", &mode));
}
