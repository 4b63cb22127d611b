// clang-format off
// [wrong]
template <typename T>
class UnendedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
}
REGISTER_OP("Unended").Input("x: float");
// [cured]
template <typename T>
class UnendedOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
REGISTER_OP("Unended").Input("x: float");
