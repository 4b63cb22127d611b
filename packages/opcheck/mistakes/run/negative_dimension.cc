// [wrong]
void wrong(OpKernelContext* ctx) {
  const int64_t size = ctx->input(0).NumElements() - 10;
  TensorShape shape({size});
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const int64_t size = ctx->input(0).NumElements() - 10;
  TensorShape shape;
  OP_REQUIRES_OK(ctx, TensorShape::BuildTensorShape({size}, &shape));
  ctx->set_output(0, ctx->input(0));
}
