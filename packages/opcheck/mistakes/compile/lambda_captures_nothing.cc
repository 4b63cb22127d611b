// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  const int64_t n = ctx->input(0).NumElements();
  auto last = [](int64_t i) { return i == n - 1; };
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  const int64_t n = ctx->input(0).NumElements();
  auto last = [&](int64_t i) { return i == n - 1; };
}
