# [wrong]
cat > op.cc <<'END'
#include "tensorflow/core/framework/op_kernel.h"
void Check(tensorflow::OpKernelContext* ctx) {
  OP_REQUIRES(ctx, ctx->input(0).dims() == 2,
              absl::InvalidArgumentError("x must be a matrix");
}
END
# [cured]
cat > op.cc <<'END'
#include "tensorflow/core/framework/op_kernel.h"
void Check(tensorflow::OpKernelContext* ctx) {
  OP_REQUIRES(ctx, ctx->input(0).dims() == 2,
              absl::InvalidArgumentError("x must be a matrix"));
}
END
# [both]
$CXX $PRECOMPILED -w -fsyntax-only op.cc
