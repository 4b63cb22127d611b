echo 'void f() {}' > op.cc
# [wrong]
echo 'version https://git-lfs.github.com/spec/v1' > libdep.so
# [cured]
$CXX -shared -fPIC op.cc -o libdep.so
# [both]
$CXX -shared -fPIC op.cc -o op.so -L. -ldep
