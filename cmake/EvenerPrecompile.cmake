# Headers that most files include, compiled once for all modules (evener_headers) and once for all tests
# (evener_test_headers), which takes a third off the time that everything takes. A file includes what
# it uses all the same: the preset tidy builds without.
function(evener_precompiled name)
  cmake_parse_arguments(arg "" "" "LINK;HEADERS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Compiled for its headers alone.\n")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE evener_options ${arg_LINK})
  list(TRANSFORM arg_HEADERS REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

set(EVENER_COMMON_HEADERS algorithm array bit charconv chrono cmath condition_variable cstddef cstdint cstdio
  cstring deque expected filesystem functional limits map memory mutex numeric optional random span
  string string_view thread unordered_map utility variant vector fmt/format.h)

# As the files are that use them, or they cannot: what evener_module_options says of its targets.
if(EVENER_PRECOMPILE)
  set(kinds evener_headers)
  if(EVENER_SANITIZE)
    list(APPEND kinds evener_plain_headers)
  endif()
  foreach(headers ${kinds})
    evener_precompiled(${headers} LINK fmt::fmt HEADERS ${EVENER_COMMON_HEADERS})
    if(EVENER_FUZZ)
      target_compile_options(${headers} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endforeach()
  if(EVENER_SANITIZE)
    target_compile_options(evener_plain_headers PRIVATE -O0)
  endif()
  if(EVENER_TESTS)
    evener_precompiled(evener_test_headers LINK fmt::fmt GTest::gtest GTest::gmock
      HEADERS ${EVENER_COMMON_HEADERS} gmock/gmock.h gtest/gtest.h)
    evener_test_options(evener_test_headers)
  endif()
endif()
