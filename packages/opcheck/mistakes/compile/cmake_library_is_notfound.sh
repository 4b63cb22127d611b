echo 'void f() {}' > op.cc
echo 'void g() {}' > library.cc
mkdir lib
$CXX -shared -fPIC library.cc -o lib/libyour_library.so
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(your_op CXX)
find_library(YOUR_LIBRARY your_library)
add_library(your_op MODULE op.cc)
target_link_libraries(your_op ${YOUR_LIBRARY})
END
# [wrong]
cmake -B build
# [cured]
cmake -B build -DYOUR_LIBRARY=$PWD/lib/libyour_library.so
