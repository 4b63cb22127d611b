echo 'extern "C" void newer() {}' > newer.cc
echo 'GLIBCXX_3.4.99 { newer; };' > newer.map
$CXX -shared -fPIC newer.cc -o libstdc++.so.6 -Wl,-soname,libstdc++.so.6 -Wl,--version-script=newer.map
echo 'extern "C" void newer(); void f() { newer(); }' > op.cc
# [wrong]
$CXX -shared -fPIC op.cc -o op.so ./libstdc++.so.6 -nostdlib
