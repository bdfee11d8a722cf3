# evener_isa(TARGET): gives the kernel files of a target the flags of their instruction set. They are
# the only files that get any: src/device/cpu/kernels/NAME_avx2.cpp and NAME_avx512.cpp.
set(EVENER_AVX2_FLAGS -mavx2 -mfma -mf16c -mbmi2)
set(EVENER_AVX512_FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c -mbmi2
  -mprefer-vector-width=512)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # gcc 12 takes the undefined registers of its own AVX-512 intrinsics for ours (its bug 105593).
  list(APPEND EVENER_AVX512_FLAGS -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

if(EVENER_SANITIZE)
  # Instrumented, the kernels' unrolled loops take gcc from three minutes (address) to a quarter of an
  # hour (undefined) to compile. Their callers, which compute every pointer and size, are checked.
  list(APPEND EVENER_AVX2_FLAGS -fno-sanitize=all)
  list(APPEND EVENER_AVX512_FLAGS -fno-sanitize=all)
endif()

function(evener_isa target)
  get_target_property(sources ${target} SOURCES)
  foreach(isa AVX2 AVX512)
    string(TOLOWER ${isa} suffix)
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "/kernels/[a-z0-9_]+_${suffix}\\.cpp$")
    set_source_files_properties(${files}
      PROPERTIES COMPILE_OPTIONS "${EVENER_${isa}_FLAGS}" SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()
