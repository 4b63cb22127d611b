echo 'static thread_local char memory[1 << 20];
char* f() { return memory; }' > op.cc
# [wrong]
$CXX -shared -fPIC -ftls-model=initial-exec op.cc -o op.so
# [cured]
$CXX -shared -fPIC op.cc -o op.so
