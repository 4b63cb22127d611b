cat > op.cc <<'END'
extern "C" int cudaMalloc(void**, unsigned long);
int f(void** p) { return cudaMalloc(p, 4); }
END
echo 'extern "C" int cudaMalloc(void**, unsigned long) { return 0; }' > cudart.cc
$CXX -shared -fPIC cudart.cc -o libcudart.so
# [wrong]
$CXX -shared -fPIC -Wl,-z,defs op.cc -o op.so
# [cured]
$CXX -shared -fPIC -Wl,-z,defs op.cc -o op.so -L. -lcudart
