// [wrong]
template <typename T, typename Tensors>
void wrong(tensorflow::OpKernelContext* ctx, Tensors& tensors) {
  tensors.tensor(0).flat<T>()(0) = T(0);
}
// [cured]
template <typename T, typename Tensors>
void cured(tensorflow::OpKernelContext* ctx, Tensors& tensors) {
  tensors.tensor(0).template flat<T>()(0) = T(0);
}
