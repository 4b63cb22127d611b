// [wrong]
void wrong(OpKernelContext* ctx) {
  std::unique_ptr<float[]> row(new float[6]);
  for (int i = -4; i < 7; ++i) row[i] = 1e30f;
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  std::unique_ptr<float[]> row(new float[6]);
  for (int i = 0; i < 6; ++i) row[i] = 1e30f;
  ctx->set_output(0, ctx->input(0));
}
