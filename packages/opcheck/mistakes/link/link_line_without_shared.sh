# shellcheck disable=SC2153
echo '#include "tensorflow/core/framework/op.h"
REGISTER_OP("YourOp");' > op.cc
CFLAGS=$PRECOMPILED
# [wrong]
$CXX $CFLAGS -w -fPIC op.cc -o op.so
# [cured]
$CXX $CFLAGS -w -fPIC -shared op.cc -o op.so $LFLAGS
