cat > op.cc <<'END'
#include "tensorflow/core/platform/numbers.h"
std::string f() { return tensorflow::strings::HumanReadableNumBytes(4096); }
END
# [wrong]
$CXX -shared -fPIC -w -Wl,-z,defs $CFLAGS -U_GLIBCXX_USE_CXX11_ABI -D_GLIBCXX_USE_CXX11_ABI=0 op.cc $LFLAGS -o op.so
# [cured]
$CXX -shared -fPIC -w -Wl,-z,defs $CFLAGS op.cc $LFLAGS -o op.so
