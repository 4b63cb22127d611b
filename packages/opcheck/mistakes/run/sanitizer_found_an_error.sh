# [wrong]
echo 'int main() { int* p = new int[3]; return p[3]; }' > main.cc
# [cured]
echo 'int main() { int* p = new int[3]{}; int x = p[2]; delete[] p; return x; }' > main.cc
# [both]
$CXX -g -fsanitize=address main.cc -o main
./main
