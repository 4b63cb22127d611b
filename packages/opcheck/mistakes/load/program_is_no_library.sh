echo 'int main() {}' > op.cc
# [wrong]
$CXX -fPIE -pie op.cc -o op.so
# [cured]
$CXX -shared -fPIC op.cc -o op.so
