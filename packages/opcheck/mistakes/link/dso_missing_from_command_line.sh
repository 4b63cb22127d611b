echo 'void f() {}' > a.cc
echo 'void f(); void g() { f(); }' > b.cc
echo 'void f(); void g(); int main() { f(); g(); }' > main.cc
$CXX -shared -fPIC a.cc -o liba.so
$CXX -shared -fPIC b.cc -o libb.so -L. -la
# [wrong]
$CXX main.cc -o main -L. -lb -Wl,-rpath-link,.
# [cured]
$CXX main.cc -o main -L. -lb -la
