cat > op.cc <<'END'
#include "tensorflow/core/util/determinism.h"
bool f() { return tensorflow::OpDeterminismRequired(); }
END
# [wrong]
$CXX -shared -fPIC $CFLAGS $LFLAGS op.cc -o op.so -Wl,-z,defs -Wl,--as-needed
# [cured]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so -Wl,-z,defs $LFLAGS
