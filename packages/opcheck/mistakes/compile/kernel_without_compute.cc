// [wrong]
class WrongOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(const tensorflow::OpKernelContext* ctx) {}
};
REGISTER_KERNEL_BUILDER(Name("YourOp").Device(tensorflow::DEVICE_CPU), WrongOp);
// [cured]
class CuredOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
REGISTER_KERNEL_BUILDER(Name("YourOp").Device(tensorflow::DEVICE_CPU), CuredOp);
