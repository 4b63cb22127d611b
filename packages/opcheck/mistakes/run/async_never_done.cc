// [ends] timeout
// [wrong]
void wrong(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
  ctx->set_output(0, ctx->input(0));
  if (ctx->input(0).NumElements() == 0) {
    done();
  }
}
// [cured]
void cured(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
  ctx->set_output(0, ctx->input(0));
  done();
}
// [call] your_async_op(tf.ones([2, 3]))
