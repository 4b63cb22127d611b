# [needs] cpu
echo '#include "tensorflow/core/util/gpu_kernel_helper.h"' > op.cc
# [wrong]
$CXX $CFLAGS -fsyntax-only op.cc -DGOOGLE_CUDA=1 -DEIGEN_USE_GPU
