echo 'V1 { f; g; };' > versions
echo 'extern "C" void f() {} extern "C" void g() {}' > new.cc
echo 'extern "C" void g() {}' > old.cc
echo 'extern "C" void f(); void h() { f(); }' > op.cc
link="$CXX -shared -fPIC -Wl,--version-script=versions -Wl,-soname,libdep.so.1"
$link new.cc -o libdep.so.1
$CXX -shared -fPIC op.cc -o op.so -L. -l:libdep.so.1 -Wl,-rpath,"$PWD"
# [wrong]
$link old.cc -o libdep.so.1
# [cured]
$link new.cc -o libdep.so.1
