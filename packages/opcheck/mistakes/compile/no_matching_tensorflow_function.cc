// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) { ctx->set_output("y"); }
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  ctx->set_output(0, ctx->input(0));
}
