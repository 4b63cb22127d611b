printf 'cmake_minimum_required(VERSION 3.16)\nproject(your_op NONE)\n' > CMakeLists.txt
# [wrong]
echo 'find_package(TensorFlow REQUIRED)' >> CMakeLists.txt
cmake -B build
# [cured]
cat >> CMakeLists.txt <<'END'
execute_process(
  COMMAND python -c "import tensorflow as tf; print(*tf.sysconfig.get_compile_flags(), sep=';')"
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
)
END
cmake -B build
