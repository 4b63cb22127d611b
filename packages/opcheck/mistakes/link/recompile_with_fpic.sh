echo 'int calls; int f() { return ++calls; }' > op.cc
# [wrong]
$CXX -fno-pic -c op.cc -o op.o
$CXX -shared op.o -o op.so
# [cured]
$CXX -fPIC -c op.cc -o op.o
$CXX -shared op.o -o op.so
