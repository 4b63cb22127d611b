// [wrong]
void wrong(OpKernelContext* ctx) {
  auto second_row = ctx->input(0).Slice(1, 2).flat<float>();
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  auto second_row = ctx->input(0).Slice(1, 2).unaligned_flat<float>();
  ctx->set_output(0, ctx->input(0));
}
