cat > op.cc <<'END'
#include "tensorflow/core/util/determinism.h"
bool f() { return tensorflow::OpDeterminismRequired(); }
END
# [wrong]
$CXX -shared -fPIC $CFLAGS -Wl,-z,defs -Wl,--as-needed $LFLAGS op.cc -o op.so
# [cured]
$CXX -shared -fPIC $CFLAGS -Wl,-z,defs -Wl,--as-needed op.cc $LFLAGS -o op.so
