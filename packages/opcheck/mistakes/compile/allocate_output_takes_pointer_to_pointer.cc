// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  tensorflow::Tensor output;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {3}, &output));
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  tensorflow::Tensor* output = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {3}, &output));
}
