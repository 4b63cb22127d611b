echo 'void f() {}' > op.cc
# [needs] cpu
# [wrong]
$CXX -shared -fPIC op.cc -o op.so -lcudart
# [cured]
$CXX -shared -fPIC op.cc -o op.so
