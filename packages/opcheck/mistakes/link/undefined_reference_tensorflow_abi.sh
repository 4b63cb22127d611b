cat > op.cc <<'END'
#include "tensorflow/core/framework/op_def_builder.h"
void f() { tensorflow::OpDefBuilder builder("F"); }
END
# [wrong]
$CXX -shared -fPIC -Wl,-z,defs $CFLAGS -U_GLIBCXX_USE_CXX11_ABI -D_GLIBCXX_USE_CXX11_ABI=0 op.cc $LFLAGS -o op.so
# [cured]
$CXX -shared -fPIC -Wl,-z,defs $CFLAGS op.cc $LFLAGS -o op.so
