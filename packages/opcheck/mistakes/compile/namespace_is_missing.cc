// [wrong]
void wrong(OpKernelContext* ctx) {}
// [cured]
void cured(tensorflow::OpKernelContext* ctx) {}
