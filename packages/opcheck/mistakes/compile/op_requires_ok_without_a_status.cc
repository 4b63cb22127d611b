// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  OP_REQUIRES_OK(ctx, ctx->input(0).dims() == 2);
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  OP_REQUIRES(ctx, ctx->input(0).dims() == 2,
              absl::InvalidArgumentError("x must be a matrix"));
}
