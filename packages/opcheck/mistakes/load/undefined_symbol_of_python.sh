echo 'extern "C" void* PyUnicodeUCS4_FromString(const char*);' > old.cc
echo 'void* f() { return PyUnicodeUCS4_FromString("x"); }' >> old.cc
echo 'extern "C" void* PyUnicode_FromString(const char*);' > new.cc
echo 'void* f() { return PyUnicode_FromString("x"); }' >> new.cc
# [wrong]
$CXX -shared -fPIC old.cc -o op.so
# [cured]
$CXX -shared -fPIC new.cc -o op.so
