# [needs] TensorFlow 2.21
mkdir include
ln -s /usr/include/* include
rm -f include/highwayhash include/farmhash.h
folders=$($CXX -E -v -xc++ /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ /-isystem /p' | grep -v ' /usr/include$')
echo '#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"' > op.cc
# [wrong]
$CXX $CFLAGS -nostdinc $folders -isystem include -fsyntax-only op.cc
