// [wrong]
struct YourOp : tensorflow::OpKernel {
  using tensorflow::OpKernel::OpKernel;
  void Compute(const tensorflow::OpKernelContext* ctx) override {}
};
// [cured]
struct YourOp : tensorflow::OpKernel {
  using tensorflow::OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
