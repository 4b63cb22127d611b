cat > dep.cc <<'END'
#include <string>
void f(const std::string&) {}
END
cat > op.cc <<'END'
#include <string>
void f(const std::string&);
void g() { f("x"); }
END
# [wrong]
$CXX -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=0 dep.cc -o libdep.so
# [cured]
$CXX -shared -fPIC dep.cc -o libdep.so
# [both]
$CXX -shared -fPIC -Wl,-z,defs op.cc -o op.so -L. -ldep
