// [wrong]
void wrong(OpKernelContext* ctx) {
  if (ctx->input(0).NumElements() == 6) return;
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) { ctx->set_output(0, ctx->input(0)); }
// [call] tf.function(your_op)(tf.ones([2, 3]))
