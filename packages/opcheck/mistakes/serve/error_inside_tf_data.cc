// [wrong]
void wrong(OpKernelContext* ctx) {
  OP_REQUIRES(ctx, ctx->input(0).dims() == 1,
              absl::InvalidArgumentError("x must be a vector"));
  ctx->set_output(0, ctx->input(0));
}
// [call] list(tf.data.Dataset.from_tensors(tf.ones([2, 3])).map(your_op))
// [cured_call] list(tf.data.Dataset.from_tensors(tf.ones([3])).map(your_op))
