cat > op.cc <<'END'
#include "tensorflow/core/util/determinism.h"
bool f() { return tensorflow::OpDeterminismRequired(); }
END
# [wrong]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so -L"$TF" -ltensorflow_framework
# [cured]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so $LFLAGS
