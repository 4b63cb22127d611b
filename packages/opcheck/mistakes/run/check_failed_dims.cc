// [wrong]
void wrong(OpKernelContext* ctx) {
  auto matrix = ctx->input(0).matrix<float>();
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  OP_REQUIRES(ctx, x.dims() == 2,
              absl::InvalidArgumentError(absl::StrCat(
                  "x must be a matrix, got ", x.shape().DebugString())));
  auto matrix = ctx->input(0).matrix<float>();
  ctx->set_output(0, ctx->input(0));
}
// [call] your_op(tf.ones([3]))
