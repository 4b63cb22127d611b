// [wrong]
void wrong(const tensorflow::Tensor& names) {
  auto first = names.flat<std::string>()(0);
}
// [cured]
void cured(const tensorflow::Tensor& names) {
  auto first = names.flat<tensorflow::tstring>()(0);
}
