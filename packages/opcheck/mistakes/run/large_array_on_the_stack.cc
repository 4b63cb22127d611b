// [ends] SIGSEGV
// [wrong]
void wrong(OpKernelContext* ctx) {
  volatile char buffer[64 << 20];
  for (int64_t i = 0; i < 64 << 20; i += 4096) buffer[i] = 1;
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  Tensor temp;
  OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_UINT8, {64 << 20}, &temp));
  auto buffer = temp.flat<uint8_t>();
  for (int64_t i = 0; i < 64 << 20; i += 4096) buffer(i) = 1;
  ctx->set_output(0, ctx->input(0));
}
