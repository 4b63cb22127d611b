// [wrong]
void wrong(OpKernelContext* ctx) {
  const int64_t channels = ctx->input(0).dim_size(3);
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  OP_REQUIRES(ctx, x.dims() == 4,
              absl::InvalidArgumentError(absl::StrCat(
                  "x must have rank 4, got ", x.shape().DebugString())));
  const int64_t channels = ctx->input(0).dim_size(3);
  ctx->set_output(0, ctx->input(0));
}
