echo 'void f() {}' > op.cc
# [wrong]
$CXX -shared -fPIC op.cc -o build/your_op.so
# [cured]
mkdir -p build
$CXX -shared -fPIC op.cc -o build/your_op.so
