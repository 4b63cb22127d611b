# Fails where a library has not taken in the CUDA runtime: cmake -D NM=nm -D LIBRARY=libx.so -P CheckCudaRuntime.cmake

execute_process(
  COMMAND ${NM} -D --undefined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " (__)?cuda[A-Za-z0-9_]*" missing "${symbols}")
if(missing)
  # What fails is to be made again.
  file(REMOVE ${LIBRARY})
  list(LENGTH missing count)
  list(GET missing 0 first)
  cmake_path(GET LIBRARY FILENAME name)
  message(FATAL_ERROR "${name} lacks ${count} CUDA functions,${first} for one: link the CUDA runtime before TensorFlow")
endif()
