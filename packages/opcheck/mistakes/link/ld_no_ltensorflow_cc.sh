echo 'void f() {}' > op.cc
# [wrong]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so -L"$TF" -ltensorflow_cc
# [cured]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so $LFLAGS
