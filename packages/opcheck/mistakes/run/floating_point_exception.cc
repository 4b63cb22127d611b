// [ends] SIGFPE
// [wrong]
void wrong(OpKernelContext* ctx) {
  volatile int64_t rows = 100 / ctx->input(0).NumElements();
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) {
  const int64_t size = ctx->input(0).NumElements();
  volatile int64_t rows = size == 0 ? 0 : 100 / size;
  ctx->set_output(0, ctx->input(0));
}
// [call] your_op(tf.ones([0]))
