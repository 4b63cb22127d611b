// [wrong]
void wrong(OpKernelContext* ctx) {
  Tensor rows = ctx->input(0).Slice(0, 99);
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const int64_t last = std::min<int64_t>(99, ctx->input(0).dim_size(0));
  Tensor rows = ctx->input(0).Slice(0, last);
  ctx->set_output(0, ctx->input(0));
}
