#include "host/log_devices.h"

#include <algorithm>
#include <array>

#include "host/limits.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// "DRIVER 0000:05:00.0: TEXT"
struct Message {
  std::string_view driver;
  PciAddress address;
  std::string_view text;
};

std::optional<Message> parse(std::string_view message) {
  std::string_view rest = message;
  const std::string_view driver = take_word(rest);
  std::string_view place = take_word(rest);
  if (!place.ends_with(':')) return {};
  place.remove_suffix(1);
  const auto address = parse_pci_address(place);
  if (!address) return {};
  return Message{driver, *address, trim(rest)};
}

bool is_gpu_driver(std::string_view driver) {
  constexpr std::array<std::string_view, 4> kDrivers{"amdgpu", "nvidia", "xe", "i915"};
  return std::ranges::find(kDrivers, driver) != kDrivers.end();
}

bool says_lost(std::string_view text) {
  return text.find("no space") != std::string_view::npos ||
         text.find("failed to assign") != std::string_view::npos;
}

// "[mem 0xc0000000-0xcfffffff 64bit pref]" or "[mem size 0x800000000 64bit pref]"
struct Memory {
  std::optional<AddressRange> range;
  std::optional<uint64_t> wanted;
  bool is_64_bit = false;
  bool is_prefetchable = false;
};

std::optional<Memory> memory_in(std::string_view text) {
  const auto inside = between(text, "[mem ", "]");
  if (!inside) return {};
  Memory memory{.range = {},
                .wanted = {},
                .is_64_bit = inside->find("64bit") != std::string_view::npos,
                .is_prefetchable = inside->find("pref") != std::string_view::npos};
  if (inside->starts_with("size ")) {
    memory.wanted = leading_uint(inside->substr(5), 16);
  } else {
    memory.range = parse_range(before(*inside, " "));
  }
  return memory;
}

std::optional<uint64_t> mebibytes(std::string_view text) {
  const auto number = leading_uint(text);
  if (!number || *number > kAddressMax / kMiB) return {};
  return *number * kMiB;
}

std::optional<PortKind> port_in(std::string_view text) {
  if (text.find("PCIe Root Port") != std::string_view::npos) return PortKind::root;
  if (text.find("PCIe Switch Upstream Port") != std::string_view::npos) return PortKind::switch_up;
  if (text.find("PCIe Switch Downstream Port") != std::string_view::npos) {
    return PortKind::switch_down;
  }
  return {};
}

}  // namespace

void LogDevices::read(std::string_view message) {
  if (const auto found = parse(message)) {
    if (is_gpu_driver(found->driver)) last_gpu_ = found->address;
    Seen& seen = seen_at(*functions_, found->address);
    if (is_gpu_driver(found->driver)) seen.function.driver = std::string(found->driver);
    read_of(found->text, seen);
  } else if (message.starts_with("[drm]") && last_gpu_) {
    read_vram(message, seen_at(*functions_, *last_gpu_).card);
  }
}

void LogDevices::read_of(std::string_view text, Seen& seen) {
  Function& function = seen.function;
  if (text.starts_with("[")) read_identity(text, function);
  if (text.find("Adding to iommu group ") != std::string_view::npos) {
    const auto group = leading_uint(*after(text, "iommu group "));
    if (group && *group < 1'000'000) function.iommu_group = static_cast<unsigned>(*group);
    has_iommu_groups_ = true;
  }
  if (const auto buses = between(text, "PCI bridge to [bus ", "]")) {
    const auto first = parse_uint(before(*buses, "-"), 16);
    const auto last = parse_uint(buses->substr(buses->find('-') + 1), 16);
    function.is_bridge = true;
    if (first && *first <= 0xff && last && *last <= 0xff) {
      seen.below = BusRange{static_cast<uint8_t>(*first), static_cast<uint8_t>(*last)};
    }
  }
  if (!read_window(text, function)) read_bar(text, function);
  read_link_limit(text);
  read_vram(text, seen.card);
}

// "[8086:6f00] type 00 class 0x060000 PCIe Root Port"
void LogDevices::read_identity(std::string_view text, Function& function) {
  const auto inside = between(text, "[", "]");
  const auto id = inside ? parse_pci_id(*inside) : std::nullopt;
  const auto digits = after(text, " class ");
  const auto code = digits ? leading_uint(*digits, 16) : std::nullopt;
  if (!id || !code || *code > 0xffffff) return;
  function.id = id;
  function.class_code = static_cast<uint32_t>(*code);
  function.is_bridge = *code >> 8 == 0x0604;
  function.port = port_in(text);
}

// "bridge window [mem 0xc0000000-0xd01fffff 64bit pref]", ": assigned" or "can't assign" behind.
bool LogDevices::read_window(std::string_view text, Function& function) {
  if (text.find("bridge window [") == std::string_view::npos) return false;
  const auto memory = memory_in(text);
  if (!memory) return true;
  function.is_bridge = true;
  Window& window = memory->is_prefetchable ? function.prefetchable : function.memory;
  if (says_lost(text)) {
    window = {.base = {}, .size_bytes = 0};
  } else if (memory->range && memory->range->first != 0) {
    window = {.base = memory->range->first, .size_bytes = memory->range->size_bytes()};
  }
  return true;
}

// "BAR 0: assigned [mem ...]", "BAR 0 [mem ...]: can't assign; no space", "reg 0x10: [mem ...]"
bool LogDevices::read_bar(std::string_view text, Function& function) {
  std::optional<uint64_t> index;
  if (text.starts_with("BAR ")) index = leading_uint(text.substr(4));
  if (text.starts_with("reg 0x")) {
    const auto offset = leading_uint(text.substr(4), 16);
    if (offset && *offset >= 0x10) index = (*offset - 0x10) / 4;
  }
  const auto memory = memory_in(text);
  if (!index || *index > 5 || !memory) return false;
  Bar& bar = bar_at(function, static_cast<unsigned>(*index));
  bar.is_64_bit = memory->is_64_bit;
  bar.prefetchable = memory->is_prefetchable;
  if (says_lost(text)) {
    bar.size_bytes = 0;
    bar.base.reset();
  } else if (memory->range && memory->range->first != 0) {
    bar.base = memory->range->first;
    bar.size_bytes = memory->range->size_bytes();
  }
  return true;
}

// "63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:03.0 (...)"
void LogDevices::read_link_limit(std::string_view text) {
  const auto limit = after(text, "available PCIe bandwidth, limited by ");
  if (!limit) return;
  const auto place = after(*limit, "link at ");
  const auto width = after(*limit, " x");
  const auto address = place ? parse_pci_address(before(*place, " ")) : std::nullopt;
  const auto lanes = width ? leading_uint(*width) : std::nullopt;
  const auto speed = leading_real(*limit);
  if (!address || !lanes || *lanes > 32 || !speed) return;
  Link& link = seen_at(*functions_, *address).function.link.emplace();
  link.now_gts = speed;
  link.now_width = static_cast<unsigned>(*lanes);
  link.under_load = false;
}

// "Detected VRAM RAM=8176M, BAR=256M", "VRAM: 8176M 0x000000F400000000 - ... (8176M used)"
void LogDevices::read_vram(std::string_view text, Card& card) {
  if (const auto detected = after(text, "Detected VRAM RAM=")) {
    card.vram_bytes = mebibytes(*detected);
    if (const auto bar = after(*detected, "BAR=")) card.visible_vram_bytes = mebibytes(*bar);
  } else if (const auto vram = after(text, "VRAM: ");
             vram && text.find("M used") != std::string_view::npos) {
    if (const auto size = mebibytes(*vram)) card.vram_bytes = size;
  }
}

}  // namespace evener::host
