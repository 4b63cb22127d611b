#[=[
OpLibrary: libraries of ops for tf.load_op_library, and programs that use them, beside their sources.

  op_by_op_library(name source...)   lib<name>.so
  op_by_op_libraries(name...)        lib<name>.so of <name>.cc, for each name
  op_by_op_stable_library(name source...)   lib<name>.so of sources that use the C API alone, for many versions of TensorFlow
  op_by_op_program(name source...)   linked with all of TensorFlow, where its package has libtensorflow_cc
  op_by_op_test(name source...)      linked with GoogleTest, where it is installed

CMAKE_LIBRARY_OUTPUT_DIRECTORY is another place for them.
]=]

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(TensorFlow REQUIRED)
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold HAVE_GOLD)

# [library] What examples/CMakeLists.txt asks for, too: the targets that include TensorFlow's headers.
function(_op_by_op_target name)
  target_link_libraries(${name} PRIVATE TensorFlow::framework)
  if(HAVE_GOLD)
    target_link_options(${name} PRIVATE -fuse-ld=gold)
  endif()
  set(directory ${CMAKE_CURRENT_SOURCE_DIR})
  if(CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set(directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  endif()
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${directory} RUNTIME_OUTPUT_DIRECTORY ${directory})

  # `make examples` precompiles headers for C++.
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]c$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_property(GLOBAL APPEND PROPERTY OP_BY_OP_TARGETS ${name})
endfunction()

# [wrong] Code that is wrong on purpose, wrong_*.cc, is not in the zips of the site.
function(_op_by_op_without_missing result)
  set(sources ${ARGN})
  foreach(source ${ARGN})
    if(source MATCHES "^wrong_" AND NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      list(REMOVE_ITEM sources ${source})
    endif()
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(op_by_op_library name)
  _op_by_op_without_missing(sources ${ARGN})
  if(sources)
    add_library(${name} MODULE ${sources})
    _op_by_op_target(${name})
  endif()
endfunction()

function(op_by_op_libraries)
  foreach(name ${ARGN})
    op_by_op_library(${name} ${name}.cc)
  endforeach()
endfunction()

# [stable] Of TensorFlow only the headers and the framework library: none of its flags, and no version to be refused by.
function(op_by_op_stable_library name)
  find_package(Threads REQUIRED)
  add_library(${name} MODULE ${ARGN})
  get_target_property(framework TensorFlow::framework IMPORTED_LOCATION)
  target_link_libraries(${name} PRIVATE ${framework} Threads::Threads)
  target_include_directories(${name} SYSTEM PRIVATE ${TensorFlow_INCLUDE_DIR})
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_compile_options(${name} PRIVATE -fvisibility=hidden -Wall -Wextra)
  if(NOT APPLE)
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
  set(directory ${CMAKE_CURRENT_SOURCE_DIR})
  if(CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set(directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  endif()
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${directory} SKIP_BUILD_RPATH ON)
endfunction()

function(op_by_op_program name)
  if(NOT TARGET TensorFlow::cc)
    message(WARNING "This TensorFlow has no libtensorflow_cc, so ${name} is not built.")
    return()
  endif()
  add_executable(${name} ${ARGN})
  _op_by_op_target(${name})
  target_link_libraries(${name} PRIVATE TensorFlow::cc)
  # As for the libraries, with which `make examples` shares precompiled headers.
  target_compile_options(${name} PRIVATE -fPIC)
endfunction()

function(op_by_op_test name)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(NOTICE "GoogleTest: not found, ${name} is not built: sudo apt-get install libgtest-dev")
    return()
  endif()
  _op_by_op_without_missing(sources ${ARGN})
  add_executable(${name} ${sources})
  _op_by_op_target(${name})
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  target_compile_options(${name} PRIVATE -fPIC)
endfunction()
