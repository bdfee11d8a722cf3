#include "device/vulkan/card_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace evener::device::vulkan {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTextMax = 64;      // bytes that are read of a file
constexpr size_t kEntriesMax = 256;  // of a folder

// "dddd:bb:dd.f": it becomes a part of a path.
bool is_pci_address(std::string_view text) {
  constexpr std::string_view kForm = "xxxx:xx:xx.x";
  constexpr std::string_view kHex = "0123456789abcdef";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool fits = kForm[i] == 'x' ? kHex.find(text[i]) != kHex.npos : text[i] == kForm[i];
    if (!fits) return false;
  }
  return true;
}

// The first line; empty if there is none.
std::string read_line(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};  // opening a pipe would wait
  std::ifstream file(path);
  std::array<char, kTextMax> text{};
  file.read(text.data(), text.size());
  const std::string_view all(text.data(), static_cast<size_t>(file.gcount()));
  return std::string(all.substr(0, all.find('\n')));
}

// Nothing for what is no number, as the "-1" of a card that belongs to no node.
std::optional<size_t> read_number(const fs::path& path) {
  const std::string text = read_line(path);
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

std::vector<fs::path> folders_in(const fs::path& folder, std::string_view begin) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (size_t i = 0; i < kEntriesMax && !error && entry != fs::directory_iterator(); ++i) {
    if (entry->path().filename().string().starts_with(begin)) found.push_back(entry->path());
    entry.increment(error);
  }
  return found;
}

// A connector is a folder "card0-DP-1" below its card.
bool drives_display(const fs::path& device) {
  for (const fs::path& card : folders_in(device / "drm", "card")) {
    const std::string begin = card.filename().string() + "-";
    for (const fs::path& connector : folders_in(card, begin)) {
      if (read_line(connector / "status") == "connected") return true;
      if (read_line(connector / "enabled") == "enabled") return true;
    }
  }
  return false;
}

}  // namespace

CardFacts read_card_facts(std::string_view pci_address, const fs::path& sys) {
  if (!is_pci_address(pci_address)) return {};
  const fs::path device = sys / "bus/pci/devices" / pci_address;
  return {.numa_node = read_number(device / "numa_node"),
          .drives_display = drives_display(device),
          .vram_total_bytes = read_number(device / "mem_info_vram_total"),
          .vram_used_bytes = read_number(device / "mem_info_vram_used"),
          .gtt_used_bytes = read_number(device / "mem_info_gtt_used")};
}

}  // namespace evener::device::vulkan
