# [wrong]
cat > op.cc <<'END'
REGISTER_OP("YourOp").Input("x: float").Output("y: float");
END
# [cured]
cat > op.cc <<'END'
#include "tensorflow/core/framework/op.h"
REGISTER_OP("YourOp").Input("x: float").Output("y: float");
END
# [both]
grep -q "#include" op.cc && CFLAGS=$PRECOMPILED
$CXX $CFLAGS -fsyntax-only op.cc
