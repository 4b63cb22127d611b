// [wrong]
void wrong(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
  OP_REQUIRES(ctx, ctx->input(0).dims() == 1,
              absl::InvalidArgumentError("x must be a vector"));
  ctx->set_output(0, ctx->input(0));
  done();
}
// [cured]
void cured(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
  OP_REQUIRES_ASYNC(ctx, ctx->input(0).dims() == 1,
                    absl::InvalidArgumentError("x must be a vector"), done);
  ctx->set_output(0, ctx->input(0));
  done();
}
// [call] your_async_op(tf.ones([2, 3]))
