echo 'int f() { return 1; }' > x.cc
$CXX -shared -fPIC x.cc -o libx.so
# [wrong]
LD_PRELOAD=$PWD/lib/libx.so /bin/true
# [cured]
LD_PRELOAD=$PWD/libx.so /bin/true
