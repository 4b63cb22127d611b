// [wrong]
void wrong(const tensorflow::Tensor& x) { auto values = x.flat(); }
// [cured]
void cured(const tensorflow::Tensor& x) { auto values = x.flat<float>(); }
