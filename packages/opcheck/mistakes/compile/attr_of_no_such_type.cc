// [wrong]
void wrong(tensorflow::OpKernelConstruction* ctx) {
  double rate;
  OP_REQUIRES_OK(ctx, ctx->GetAttr("rate", &rate));
}
// [cured]
void cured(tensorflow::OpKernelConstruction* ctx) {
  float rate;
  OP_REQUIRES_OK(ctx, ctx->GetAttr("rate", &rate));
}
