# [wrong]
cat > op.cc <<'END'
#include "tensorflow/core/framework/op_kernel.h"
class OpenOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      ctx->set_output(i, ctx->input(i));
  }
};
END
# [cured]
cat > op.cc <<'END'
#include "tensorflow/core/framework/op_kernel.h"
class OpenOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(tensorflow::OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      ctx->set_output(i, ctx->input(i));
    }
  }
};
END
# [both]
$CXX $PRECOMPILED -w -fsyntax-only op.cc
