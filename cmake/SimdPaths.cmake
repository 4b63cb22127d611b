#[=[
SimdPaths: one source for several kinds of processor.

  add_simd_paths(name source other...)   the source once for each kind, OP_BY_OP_PATH being its name: baseline and,
                                         on x86-64, avx2 and avx512; the others once; all as the list of objects ${name}
]=]

set(SIMD_FLAGS_baseline "")
set(SIMD_FLAGS_avx2 -mavx2)
set(SIMD_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl)

function(add_simd_paths name source)
  set(paths baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND paths avx2 avx512)
  endif()
  foreach(path ${paths})
    add_library(${name}_${path} OBJECT ${source})
    target_compile_features(${name}_${path} PRIVATE cxx_std_17)
    target_compile_definitions(${name}_${path} PRIVATE OP_BY_OP_PATH=${path})
    # Vectors are passed to inline functions only, so there is no ABI to warn of.
    target_compile_options(${name}_${path} PRIVATE ${SIMD_FLAGS_${path}} -Wall -Wextra -Wno-psabi -fvisibility=hidden)
    set_target_properties(${name}_${path} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    list(APPEND objects $<TARGET_OBJECTS:${name}_${path}>)
  endforeach()
  target_sources(${name}_baseline PRIVATE ${ARGN})
  set(${name} ${objects} PARENT_SCOPE)
endfunction()
