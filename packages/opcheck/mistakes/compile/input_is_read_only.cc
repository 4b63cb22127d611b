// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  auto x = ctx->input(0).flat<float>();
  x(0) = 1;
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  tensorflow::Tensor* output = nullptr;
  OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                          {0}, 0, ctx->input(0).shape(), &output));
  auto y = output->flat<float>();
  y = ctx->input(0).flat<float>();
  y(0) = 1;
}
