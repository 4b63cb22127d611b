echo 'extern "C" int PyList_Sort(void*);' > main.cc
echo 'int main() { return PyList_Sort(nullptr); }' >> main.cc
# [wrong]
$CXX main.cc -o main
# [cured]
sed -i 's/PyList_Sort(nullptr)/0/' main.cc
$CXX main.cc -o main
