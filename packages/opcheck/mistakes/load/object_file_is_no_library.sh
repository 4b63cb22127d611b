echo 'void f() {}' > op.cc
# [wrong]
$CXX -c -fPIC op.cc -o op.so
# [cured]
$CXX -shared -fPIC op.cc -o op.so
