// [wrong]
struct YourOp : tensorflow::OpKernel {
  using tensorflow::OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
REGISTER_KERNEL_BUILDER(Name("YourOp").Device(tensorflow::DEVICE_CPU),
                        YourKernel);
// [cured]
struct YourOp : tensorflow::OpKernel {
  using tensorflow::OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
REGISTER_KERNEL_BUILDER(Name("YourOp").Device(tensorflow::DEVICE_CPU), YourOp);
