# evener_unity(TARGET): its files are compiled together, eight at a time. Where files are small and
# share big headers of others this takes a third of the time; they must not reuse names that are
# local to a file.
function(evener_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${EVENER_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# Modules in which tests spend their time; with sanitizers the others are compiled without optimising,
# which takes two thirds of the time.
set(EVENER_BUSY_MODULES base tensor quant quantise tokenizer chat cache sched simulate device parallel model
  sample engine)

function(evener_module_options target name)
  if(EVENER_FUZZ)  # tests and judges, which no fuzzer watches, would only take longer to compile
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  set(headers evener_headers)
  if(EVENER_SANITIZE AND NOT name IN_LIST EVENER_BUSY_MODULES)
    target_compile_options(${target} PRIVATE -O0)
    set(headers evener_plain_headers)
  endif()
  if(EVENER_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# evener_module(NAME [UNITY] DEPENDS module... LIBRARIES target...)
#
# One folder of src/ as a static library. DEPENDS is the whole list of folders an #include of this
# one may name (base is always allowed); tests/tidy reads these lines and fails on any other arrow.
function(evener_module name)
  cmake_parse_arguments(arg "UNITY" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(evener_${name} STATIC ${sources})
    target_link_libraries(evener_${name} PRIVATE evener_options)
    evener_module_options(evener_${name} ${name})
    set(scope PUBLIC)
  else()
    add_library(evener_${name} INTERFACE)  # headers alone
    set(scope INTERFACE)
  endif()
  target_include_directories(evener_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  foreach(dependency ${arg_DEPENDS})
    target_link_libraries(evener_${name} ${scope} evener_${dependency})
  endforeach()
  if(NOT name STREQUAL base)
    target_link_libraries(evener_${name} ${scope} evener_base)
  endif()
  target_link_libraries(evener_${name} ${scope} ${arg_LIBRARIES})
  if(arg_UNITY)
    evener_unity(evener_${name})
  endif()
endfunction()

# What tests compute is little beside what they include and instantiate: no time for the optimiser.
function(evener_test_options target)
  if(EVENER_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# evener_tests(NAME [UNITY] LINK module... LIBRARIES target...)
#
# All *_test.cpp of the calling folder as one program, test_NAME, known to ctest case by case.
# Tests read their fixtures from EVENER_TEST_DATA.
function(evener_tests name)
  cmake_parse_arguments(arg "UNITY" "" "LINK;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE
    EVENER_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" EVENER_SHARED="${CMAKE_SOURCE_DIR}/../shared")
  target_link_libraries(test_${name} PRIVATE evener_options GTest::gtest_main GTest::gmock ${arg_LIBRARIES})
  foreach(module ${arg_LINK})
    target_link_libraries(test_${name} PRIVATE evener_${module})
  endforeach()
  evener_test_options(test_${name})
  if(arg_UNITY)
    evener_unity(test_${name})
  endif()
  if(EVENER_PRECOMPILE)
    target_precompile_headers(test_${name} REUSE_FROM evener_test_headers)
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
endfunction()

# evener_fuzz(NAME LINK module...): tests/fuzz/NAME_fuzz.cpp as the libFuzzer program fuzz_NAME.
function(evener_fuzz name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp)
  target_link_libraries(fuzz_${name} PRIVATE evener_options)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  foreach(module ${arg_LINK})
    target_link_libraries(fuzz_${name} PRIVATE evener_${module})
  endforeach()
endfunction()
