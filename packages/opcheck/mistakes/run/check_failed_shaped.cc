// [wrong]
void wrong(OpKernelContext* ctx) {
  auto rows = ctx->input(0).shaped<float, 2>({7, 7});
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const int64_t columns = ctx->input(0).dim_size(1);
  auto rows = ctx->input(0).shaped<float, 2>(
      {ctx->input(0).NumElements() / columns, columns});
  ctx->set_output(0, ctx->input(0));
}
