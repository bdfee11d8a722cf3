# Flags that every target of the project shares.
add_library(evener_options INTERFACE)
target_compile_options(evener_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fno-omit-frame-pointer
  # One rounding per operation as written: a fused multiply-add the compiler chose for one batch size
  # and not for another would break batch invariance. Kernels ask for fma by name.
  -ffp-contract=off)
if(EVENER_SANITIZE)
  target_compile_options(evener_options INTERFACE -fsanitize=${EVENER_SANITIZE} -fno-sanitize-recover=all -g1)
  # Address sanitizer sees what these would, and they are a sixth of the time it takes to compile.
  target_compile_options(evener_options INTERFACE -fno-sanitize=null,object-size,vptr)
  target_link_options(evener_options INTERFACE -fsanitize=${EVENER_SANITIZE})
  # Instrumented code makes compilers see uninitialised values in the standard library; the release
  # build is the one whose warnings are errors.
  target_compile_options(evener_options INTERFACE -Wno-error)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees an overlap in every `"text" + std::string(...)` (its bug 105651), and then copies that
  # are too long.
  target_compile_options(evener_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(evener_options INTERFACE -Wno-unused-command-line-argument)
endif()
