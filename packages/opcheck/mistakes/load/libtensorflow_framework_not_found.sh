echo 'void f() {}' > op.cc
$CXX -shared -fPIC op.cc -o libtensorflow_framework.so.1 -Wl,-soname,libtensorflow_framework.so.1
# [wrong]
$CXX -shared -fPIC op.cc -o op.so -Wl,--no-as-needed -L. -l:libtensorflow_framework.so.1
# [cured]
$CXX -shared -fPIC op.cc -o op.so -Wl,--no-as-needed $LFLAGS
