#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

namespace evener::device::vulkan {

// What the kernel says of a card. Nothing of it need be there.
struct CardFacts {
  std::optional<size_t> numa_node = {};  // as the operating system numbers them
  bool drives_display = false;           // one is connected to it, or switched on
  // Of amdgpu:
  std::optional<size_t> vram_total_bytes = {};
  std::optional<size_t> vram_used_bytes = {};  // by all processes
  std::optional<size_t> gtt_used_bytes = {};   // of the host's memory
};

// Of the card at "0000:03:00.0", read below `sys`. An address that is none, or of no card, has no
// facts.
CardFacts read_card_facts(std::string_view pci_address, const std::filesystem::path& sys = "/sys");

}  // namespace evener::device::vulkan
