echo 'void f() {}' > op.cc
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(your_op CXX)
add_library(your_op MODULE op.cc)
END
# [wrong]
echo 'target_link_libraries(your_op TensorFlow::framework)' >> CMakeLists.txt
cmake -B build
# [cured]
cat >> CMakeLists.txt <<'END'
execute_process(
  COMMAND python -c "import tensorflow as tf; print(*tf.sysconfig.get_link_flags(), sep=';')"
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
)
target_link_libraries(your_op ${flags})
END
cmake -B build
