printf '#include "op.h"\nint g() { return f(); }\n' > op.cc
printf '#include "op.h"\nint h() { return f(); }\n' > op.cu.cc
# [wrong]
echo 'int f() { return 1; }' > op.h
$CXX -shared -fPIC op.cc op.cu.cc -o op.so
# [cured]
echo 'inline int f() { return 1; }' > op.h
$CXX -shared -fPIC op.cc op.cu.cc -o op.so
