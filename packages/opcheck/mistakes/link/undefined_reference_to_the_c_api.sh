cat > main.cc <<'END'
#include "tensorflow/c/c_api.h"
int main() { TF_DeleteGraph(TF_NewGraph()); }
END
# [wrong]
$CXX $CFLAGS main.cc $LFLAGS -Wl,-rpath,$TF -o main
# [cured]
$CXX $CFLAGS main.cc $LFLAGS -l:libtensorflow_cc.so.2 -Wl,-rpath,$TF -o main
