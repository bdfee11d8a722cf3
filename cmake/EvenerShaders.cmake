# evener_shaders(TARGET FOLDER): compiles the kernels in FOLDER with glslc, validates them and makes
# them part of the target as they are. A kernel NAME.comp is called "NAME"; those in KERNELS_BY_FORMAT are
# compiled once for each format of weights, "NAME/FORMAT".
set(EVENER_WEIGHT_FORMATS F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ1_S IQ1_M
  IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ4_NL IQ4_XS TQ1_0 TQ2_0 MXFP4 NVFP4 Q1_0 Q2_0)
set(EVENER_KERNELS_BY_FORMAT linear_vec linear_mat)

find_program(EVENER_SPIRV_VAL spirv-val REQUIRED)
enable_language(ASM)

function(evener_shaders target folder)
  file(GLOB kernels CONFIGURE_DEPENDS ${folder}/*.comp)
  file(GLOB included CONFIGURE_DEPENDS ${folder}/*.glsl)
  set(assembly "    .section .rodata.evener_kernels, \"a\", @progbits\n")
  set(declarations "")
  set(table "")
  set(compiled "")
  foreach(kernel ${kernels})
    get_filename_component(name ${kernel} NAME_WE)
    set(formats "-")
    if(name IN_LIST EVENER_KERNELS_BY_FORMAT)
      set(formats ${EVENER_WEIGHT_FORMATS})
    endif()
    foreach(format ${formats})
      set(flags "")
      set(full_name ${name})
      set(symbol evener_kernel_${name})
      if(NOT format STREQUAL "-")
        set(flags -DFORMAT_${format})
        set(full_name ${name}/${format})
        string(APPEND symbol _${format})
      endif()
      set(module ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.spv)
      add_custom_command(OUTPUT ${module}
        COMMAND Vulkan::glslc --target-env=vulkan1.3 -O -Werror ${flags} ${kernel} -o ${module}
        COMMAND ${EVENER_SPIRV_VAL} --target-env vulkan1.3 --scalar-block-layout ${module}
        DEPENDS ${kernel} ${included} VERBATIM COMMENT "Kernel ${full_name}")
      list(APPEND compiled ${module})
      string(APPEND assembly "    .balign 8\n    .global ${symbol}\n${symbol}:\n    .incbin \"${module}\"\n"
        "    .global ${symbol}_end\n${symbol}_end:\n")
      string(APPEND declarations "extern const uint32_t ${symbol}[];\nextern const uint32_t ${symbol}_end[];\n")
      string(APPEND table "    {\"${full_name}\", ${symbol}, ${symbol}_end},\n")
    endforeach()
  endforeach()
  string(APPEND assembly "    .section .note.GNU-stack, \"\", @progbits\n")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernel_code.S CONTENT "${assembly}" @ONLY)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernel_table.cpp @ONLY CONTENT
"// Made by cmake/EvenerShaders.cmake.
#include \"device/vulkan/kernel_table.h\"

extern \"C\" {
${declarations}}

namespace evener::device::vulkan {

const Kernel kKernels[] = {
${table}};
const size_t kNumKernels = std::size(kKernels);

}  // namespace evener::device::vulkan
")
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/kernel_code.S PROPERTIES OBJECT_DEPENDS "${compiled}")
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/kernel_table.cpp
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/kernel_code.S
    ${CMAKE_CURRENT_BINARY_DIR}/kernel_table.cpp)
endfunction()
