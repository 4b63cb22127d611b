echo 'void f() {}' > dep.cc
$CXX -shared -fPIC dep.cc -o libdep.so.1 -Wl,-soname,libdep.so.1
echo 'void f(); void g() { f(); }' > op.cc
# [wrong]
$CXX -shared -fPIC op.cc -o op.so -L. -l:libdep.so.1
# [cured]
$CXX -shared -fPIC op.cc -o op.so -L. -l:libdep.so.1 -Wl,-rpath,"$PWD"
