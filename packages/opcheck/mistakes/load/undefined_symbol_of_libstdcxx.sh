echo '#include <string>
std::string f(int i) { return std::string(i, 32); }' > op.cc
$CXX -fPIC -c op.cc -o op.o
# [wrong]
gcc -shared op.o -o op.so
# [cured]
$CXX -shared op.o -o op.so
# [both]
python -c 'import ctypes; ctypes.CDLL("./op.so")'
