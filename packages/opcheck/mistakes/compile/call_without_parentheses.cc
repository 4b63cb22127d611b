// [wrong]
void wrong(const tensorflow::Tensor& x) { auto values = x.flat<float>; }
// [cured]
void cured(const tensorflow::Tensor& x) { auto values = x.flat<float>(); }
