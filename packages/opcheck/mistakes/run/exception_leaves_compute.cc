// [ends] SIGSEGV
// [wrong]
void wrong(OpKernelContext* ctx) {
  std::vector<float> values(3);
  values.at(7) = 1;
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  try {
    std::vector<float> values(3);
    values.at(7) = 1;
  } catch (const std::exception& error) {
    ctx->CtxFailure(absl::InternalError(error.what()));
    return;
  }
  ctx->set_output(0, ctx->input(0));
}
