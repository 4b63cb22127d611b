echo '#include "tensorflow/core/framework/types.h"' > op.cc
# [wrong]
$CXX $CFLAGS -std=c++98 -fmax-errors=1 -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc
