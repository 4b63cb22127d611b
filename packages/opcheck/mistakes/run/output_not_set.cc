// [ends] (0,)
// [wrong]
void wrong(OpKernelContext* ctx) {
  if (ctx->input(0).NumElements() == 6) return;
  ctx->set_output(0, ctx->input(0));
}
// [cured]
void cured(OpKernelContext* ctx) { ctx->set_output(0, ctx->input(0)); }
// [call] print(your_op(tf.ones([2, 3])).shape)
