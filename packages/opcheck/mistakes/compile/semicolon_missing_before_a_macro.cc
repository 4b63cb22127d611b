// clang-format off
// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  const tensorflow::Tensor& x = ctx->input(0)
  OP_REQUIRES(ctx, x.dims() == 2,
              absl::InvalidArgumentError("x must be a matrix"));
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  const tensorflow::Tensor& x = ctx->input(0);
  OP_REQUIRES(ctx, x.dims() == 2,
              absl::InvalidArgumentError("x must be a matrix"));
}
