echo 'extern "C" void newer() {}' > newer.cc
echo 'GLIBC_2.99 { newer; };' > newer.map
$CXX -shared -fPIC newer.cc -o libc.so.6 -Wl,-soname,libc.so.6 -Wl,--version-script=newer.map -nostdlib
echo 'extern "C" void newer(); void f() { newer(); }' > op.cc
# [wrong]
$CXX -shared -fPIC op.cc -o op.so ./libc.so.6 -nostdlib
