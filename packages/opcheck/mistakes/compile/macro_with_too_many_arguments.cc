// [wrong]
template <typename A, typename B>
void wrong(tensorflow::OpKernelContext* ctx) {
  OP_REQUIRES(ctx, std::is_same<A, B>::value, absl::InternalError("two types"));
}
// [cured]
template <typename A, typename B>
void cured(tensorflow::OpKernelContext* ctx) {
  OP_REQUIRES(ctx, (std::is_same<A, B>::value),
              absl::InternalError("two types"));
}
