#[=[
FindTensorFlow: the TensorFlow of a Python environment as the CMake target TensorFlow::framework.

Input   Python3_EXECUTABLE         whose TensorFlow to use; else the active environment, else the PATH
        TensorFlow_ANY_VERSION     ON: do not refuse a version outside the supported range
Output  TensorFlow::framework      headers, flags and libtensorflow_framework of that TensorFlow
        TensorFlow::cc             libtensorflow_cc, where the package has one: most of TensorFlow
        TensorFlow_VERSION         for example 2.21.0
        TensorFlow_INCLUDE_DIR

The flags are those that tf.sysconfig gives. Importing TensorFlow takes seconds, so they are kept in
the CMake cache for as long as the environment holds the same library.
]=]

# 2.17 needs NumPy 1, which lacks what some tests of the examples call.
set(TensorFlow_SUPPORTED_FROM 2.18)
set(TensorFlow_SUPPORTED_BELOW 2.22)

if(TARGET TensorFlow::framework)
  return()
endif()

if(NOT "cxx_std_17" IN_LIST CMAKE_CXX_COMPILE_FEATURES)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} cannot compile C++17: g++ 9 or newer can; choose it with CXX=g++")
endif()
find_package(Python3 COMPONENTS Interpreter REQUIRED)

# [locate] Where the package is, without importing it.
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c "if True:
    import importlib.util, pathlib
    spec = importlib.util.find_spec('tensorflow')
    if spec is None: raise SystemExit(1)
    library, = pathlib.Path(spec.origin).parent.glob('libtensorflow_framework*.2*')
    print(library, library.stat().st_mtime_ns, library.stat().st_size, sep=';', end='')"
  OUTPUT_VARIABLE TensorFlow_IDENTITY
  ERROR_QUIET
  RESULT_VARIABLE TensorFlow_MISSING)
if(TensorFlow_MISSING)
  message(FATAL_ERROR "${Python3_EXECUTABLE} has no TensorFlow: run `make env`, or activate the environment that has it "
                      "and configure with -DPython3_EXECUTABLE=$(command -v python).")
endif()
list(GET TensorFlow_IDENTITY 0 TensorFlow_LIBRARY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TensorFlow_LIBRARY})

# [ask] What tf.sysconfig says of it, asked once for each library.
if(NOT TensorFlow_IDENTITY STREQUAL TensorFlow_ASKED)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env TF_CPP_MIN_LOG_LEVEL=2 TF_ENABLE_ONEDNN_OPTS=0 CUDA_VISIBLE_DEVICES=
            ${Python3_EXECUTABLE} -c "if True:
      import tensorflow as tf
      print(tf.__version__, tf.sysconfig.get_include(), ' '.join(tf.sysconfig.get_compile_flags()), sep='|', end='')"
    OUTPUT_VARIABLE answer
    ERROR_VARIABLE error
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "TensorFlow at ${TensorFlow_LIBRARY} cannot be imported:\n${error}")
  endif()
  string(REPLACE "|" ";" answer "${answer}")
  list(GET answer 0 version)
  list(GET answer 1 include_dir)
  list(GET answer 2 compile_flags)
  set(TensorFlow_VERSION "${version}" CACHE INTERNAL "")
  set(TensorFlow_INCLUDE_DIR "${include_dir}" CACHE INTERNAL "")
  set(TensorFlow_COMPILE_FLAGS "${compile_flags}" CACHE INTERNAL "")
  set(TensorFlow_ASKED "${TensorFlow_IDENTITY}" CACHE INTERNAL "")
endif()

if((TensorFlow_VERSION VERSION_LESS TensorFlow_SUPPORTED_FROM OR NOT TensorFlow_VERSION VERSION_LESS
                                                                 TensorFlow_SUPPORTED_BELOW)
   AND NOT TensorFlow_ANY_VERSION)
  message(
    FATAL_ERROR "TensorFlow ${TensorFlow_VERSION} is outside the supported range, ${TensorFlow_SUPPORTED_FROM} to below "
                "${TensorFlow_SUPPORTED_BELOW}: run `make env`, or try your luck with -DTensorFlow_ANY_VERSION=ON.")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  TensorFlow
  REQUIRED_VARS TensorFlow_LIBRARY TensorFlow_INCLUDE_DIR
  VERSION_VAR TensorFlow_VERSION)

# [target] The headers as system headers, so that only our own sources can warn. Of the nine fields of a gradient's
# node, four are mostly enough.
add_library(TensorFlow::framework SHARED IMPORTED)
separate_arguments(flags NATIVE_COMMAND "${TensorFlow_COMPILE_FLAGS}")
list(FILTER flags EXCLUDE REGEX "^(-I|-?-std=)")
set_target_properties(
  TensorFlow::framework
  PROPERTIES IMPORTED_LOCATION ${TensorFlow_LIBRARY}
             INTERFACE_INCLUDE_DIRECTORIES ${TensorFlow_INCLUDE_DIR}
             INTERFACE_COMPILE_FEATURES cxx_std_17
             INTERFACE_COMPILE_DEFINITIONS NDEBUG
             INTERFACE_COMPILE_OPTIONS
                 "${flags};-fvisibility=hidden;-Wall;-Wextra;-Wno-missing-field-initializers")
if(APPLE)
  target_link_options(TensorFlow::framework INTERFACE LINKER:-undefined,dynamic_lookup)
endif()

# What uses a class of libtensorflow_cc links it, since TensorFlow 2.18 loads it for itself alone.
cmake_path(GET TensorFlow_LIBRARY PARENT_PATH tensorflow_directory)
file(GLOB TensorFlow_CC_LIBRARY ${tensorflow_directory}/libtensorflow_cc.*)
if(TensorFlow_CC_LIBRARY)
  add_library(TensorFlow::cc SHARED IMPORTED)
  set_target_properties(TensorFlow::cc PROPERTIES IMPORTED_LOCATION ${TensorFlow_CC_LIBRARY})
endif()

# [version] Every library built with this target carries the version it was built for, and op_library.py reads it.
set(version_source ${CMAKE_BINARY_DIR}/built_for_tensorflow.cc)
file(
  CONFIGURE
  OUTPUT ${version_source}
  CONTENT "extern \"C\" __attribute__((used)) const char kBuiltForTensorFlow[] = \"built for TensorFlow @TensorFlow_VERSION@\";\n"
  @ONLY)
add_library(tensorflow_version OBJECT ${version_source})
set_target_properties(tensorflow_version PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_sources(TensorFlow::framework INTERFACE $<TARGET_OBJECTS:tensorflow_version>)
