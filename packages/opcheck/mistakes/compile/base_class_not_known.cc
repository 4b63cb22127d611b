// [wrong]
class WrongOp : public tensorflow::OpKernal {
 public:
  void Compute(tensorflow::OpKernelContext* ctx) {}
};
// [cured]
class CuredOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {}
};
