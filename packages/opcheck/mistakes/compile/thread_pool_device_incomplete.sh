# [wrong]
cat > op.cc <<'END'
#include "tensorflow/core/framework/op_kernel.h"
int Threads(tensorflow::OpKernelContext* ctx) {
  return ctx->eigen_device<Eigen::ThreadPoolDevice>().numThreads();
}
END
# [cured]
cat > op.cc <<'END'
#define EIGEN_USE_THREADS
#include "tensorflow/core/framework/op_kernel.h"
int Threads(tensorflow::OpKernelContext* ctx) {
  return ctx->eigen_device<Eigen::ThreadPoolDevice>().numThreads();
}
END
# [both]
grep -q EIGEN_USE_THREADS op.cc || PRECOMPILED=$CFLAGS # that defines it
$CXX $PRECOMPILED -w -fsyntax-only op.cc
