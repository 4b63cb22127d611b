echo '#include "tensorflow/core/platform/types.h"' > op.cc
# [wrong]
$CXX $CFLAGS -std=c++98 -fmax-errors=1 -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc
