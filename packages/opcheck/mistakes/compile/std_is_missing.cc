// [wrong]
void wrong(tensorflow::OpKernelContext* ctx) {
  vector<int> sizes(ctx->num_inputs());
}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {
  std::vector<int> sizes(ctx->num_inputs());
}
