cat > op.cc <<'END'
#include <iostream>
void f() { std::cout << "f"; }
END
$CXX -fPIC -c op.cc
# [wrong]
gcc -shared -Wl,-z,defs op.o -o op.so
# [cured]
$CXX -shared -Wl,-z,defs op.o -o op.so
