// [wrong]
void wrong(OpKernelContext* ctx) {
  const int64_t size = int64_t{1} << 40;
  TensorShape shape({size, size});
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const int64_t size = int64_t{1} << 40;
  TensorShape shape;
  OP_REQUIRES_OK(ctx, TensorShape::BuildTensorShape({size, size}, &shape));
  ctx->set_output(0, ctx->input(0));
}
