// [wrong]
template <typename T>
class TypedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
REGISTER_KERNEL_BUILDER(Name("YourOp").Device(tensorflow::DEVICE_CPU), TypedOp);
// [cured]
template <typename T>
class TypedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
REGISTER_KERNEL_BUILDER(Name("YourOp").Device(tensorflow::DEVICE_CPU),
                        TypedOp<float>);
