cat > op.cc <<'END'
void launch(float*, long);
void compute(float* x) { launch(x, 3); }
END
echo 'void launch(float*, long) {}' > launch.cc
# [wrong]
$CXX -shared -fPIC op.cc -o op.so
# [cured]
$CXX -shared -fPIC op.cc launch.cc -o op.so
