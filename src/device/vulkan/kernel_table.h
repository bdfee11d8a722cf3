#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace evener::device::vulkan {

// A kernel as glslc has compiled it.
struct Kernel {
  std::string_view name;  // "rms_norm", "linear_vec/Q4_K"
  const uint32_t* begin;
  const uint32_t* end;

  std::span<const uint32_t> code() const { return {begin, end}; }
};

// All of them; cmake/EvenerShaders.cmake writes the table.
extern const Kernel kKernels[];
extern const size_t kNumKernels;

}  // namespace evener::device::vulkan
