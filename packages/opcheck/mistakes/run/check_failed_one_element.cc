// [wrong]
void wrong(OpKernelContext* ctx) {
  float size = ctx->input(0).scalar<float>()();
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  OP_REQUIRES(ctx, TensorShapeUtils::IsScalar(x.shape()),
              absl::InvalidArgumentError(absl::StrCat(
                  "size must be a scalar, got ", x.shape().DebugString())));
  float size = ctx->input(0).scalar<float>()();
  ctx->set_output(0, ctx->input(0));
}
