#[=[
CudaKernels: a CUDA compiler where there is one, and kernels for a library that g++ otherwise builds.

Input   CUDA                       auto (the default), on: fail without a compiler, off: look for none
        CMAKE_CUDA_ARCHITECTURES   or the environment variable CUDAARCHS; by default five, of which the newest also
                                   as PTX, the intermediate code that later GPUs compile when the library is loaded
Output  CUDA_KERNELS               TRUE where CUDA code is built
        add_cuda_kernels(target source...)   where CUDA code is built: x.cu.cc by nvcc, other sources by g++

The compiler is the first of $CUDACXX, the PATH, /usr/local/cuda and the package cuda-toolkit of the Python environment.
The runtime library is linked statically, so that the library needs no CUDA where it is loaded.
]=]

# [kernels] nvcc gets none of TensorFlow's headers and flags, so its objects are a target of their own.
function(add_cuda_kernels target)
  if(NOT CUDA_KERNELS)
    return()
  endif()
  set(kernels ${ARGN})
  list(FILTER kernels INCLUDE REGEX "[.]cu[.]cc$")
  set(others ${ARGN})
  list(REMOVE_ITEM others ${kernels})
  set(objects ${target}_cuda)
  add_library(${objects} OBJECT ${kernels})
  set_source_files_properties(${kernels} PROPERTIES LANGUAGE CUDA)
  set_target_properties(
    ${objects}
    PROPERTIES POSITION_INDEPENDENT_CODE ON
               CUDA_STANDARD 17
               CUDA_STANDARD_REQUIRED ON
               CUDA_RUNTIME_LIBRARY None)
  target_compile_options(${objects} PRIVATE --fmad=false -Xcompiler=-Wall,-Wextra,-fvisibility=hidden)
  target_sources(${target} PRIVATE ${others} $<TARGET_OBJECTS:${objects}>)

  # TensorFlow exports functions of the same names, which fail without a driver: the linker takes the first that it meets.
  get_target_property(libraries ${target} LINK_LIBRARIES)
  set_target_properties(${target} PROPERTIES LINK_LIBRARIES "CUDA::cudart_static;${libraries}")
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D LIBRARY=$<TARGET_FILE:${target}> -P
            ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/CheckCudaRuntime.cmake
    VERBATIM)
endfunction()

set(CUDA auto CACHE STRING "auto, on or off")
if(NOT CUDA MATCHES "^(auto|on|off)$")
  message(FATAL_ERROR "CUDA is auto, on or off, not ${CUDA}")
endif()
if(DEFINED CUDA_KERNELS)
  return()
endif()
set(CUDA_KERNELS FALSE)

# [compiler] A name in the environment must be right; the other places may be empty.
if(CUDA STREQUAL off)
  message(NOTICE "CUDA: off, every example is built for the CPU")
  set(CMAKE_CUDA_COMPILER NOTFOUND) # for the projects that would look for one themselves
  return()
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
  OUTPUT_VARIABLE packages)
if(NOT CMAKE_CUDA_COMPILER)
  if(NOT "$ENV{CUDACXX}" STREQUAL "")
    find_program(CMAKE_CUDA_COMPILER NAMES $ENV{CUDACXX})
    if(NOT CMAKE_CUDA_COMPILER)
      message(FATAL_ERROR "CUDACXX names $ENV{CUDACXX}, which is not there")
    endif()
  else()
    find_program(CMAKE_CUDA_COMPILER nvcc)
    find_program(CMAKE_CUDA_COMPILER nvcc PATHS /usr/local/cuda/bin ${packages}/nvidia/cu13/bin NO_DEFAULT_PATH)
  endif()
endif()
if(NOT CMAKE_CUDA_COMPILER)
  if(CUDA STREQUAL on)
    message(FATAL_ERROR "no CUDA compiler: install CUDA, name one with CUDACXX=/path/to/nvcc, or `make examples CUDA=on`")
  endif()
  message(NOTICE "CUDA: no compiler found, every example is built for the CPU")
  return()
endif()

# [package] The package lacks two links that CMake's test of the compiler needs.
if(CMAKE_CUDA_COMPILER MATCHES "^${packages}/")
  set(toolkit ${packages}/nvidia/cu13)
  if(NOT EXISTS ${toolkit}/lib64)
    file(CREATE_LINK lib ${toolkit}/lib64 SYMBOLIC)
  endif()
  if(NOT EXISTS ${toolkit}/lib/libcudart.so)
    file(CREATE_LINK libcudart.so.13 ${toolkit}/lib/libcudart.so SYMBOLIC)
  endif()
endif()

# [works] One that does not work fails here, since CMake's own test of it does not say how to go on.
if(NOT CMAKE_CUDA_COMPILER STREQUAL CUDA_COMPILER_THAT_WORKS)
  file(WRITE ${CMAKE_BINARY_DIR}/empty.cu "__global__ void Empty() {}\n")
  execute_process(
    COMMAND ${CMAKE_CUDA_COMPILER} -c empty.cu -o empty.o
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    ERROR_VARIABLE error ERROR_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} does not work: ${error}\nName another CUDA compiler, "
                        "CUDACXX=/path/to/nvcc, or build for the CPU alone, CUDA=off")
  endif()
  set(CUDA_COMPILER_THAT_WORKS ${CMAKE_CUDA_COMPILER} CACHE INTERNAL "")
endif()

# [language] CMake's own support for CUDA does the rest.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(CUDA_KERNELS TRUE)
list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
message(NOTICE "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION} for ${architectures}")
