cat > op.cc <<'END'
extern "C" int cublasCreate_v2(void**);
int f(void** handle) { return cublasCreate_v2(handle); }
END
echo 'extern "C" int cublasCreate_v2(void**) { return 0; }' > cublas.cc
$CXX -shared -fPIC cublas.cc -o libcublas.so
# [wrong]
$CXX -shared -fPIC op.cc -o op.so
# [cured]
$CXX -shared -fPIC op.cc -o op.so -L. -lcublas -Wl,-rpath,"$PWD"
