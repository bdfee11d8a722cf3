#include "host/config_space.h"

#include <algorithm>
#include <array>

#include "host/limits.h"

namespace evener::host {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kLegacyBytes = 256;
constexpr unsigned kBridgeHeader = 1;
// A capability takes at least four bytes of its list: longer chains are loops.
constexpr unsigned kCapabilitiesMax = 48;
constexpr unsigned kExtendedCapabilitiesMax = 960;

constexpr unsigned kPowerManagement = 0x01;
constexpr unsigned kPciExpress = 0x10;
constexpr unsigned kAcs = 0x0d;
constexpr unsigned kResizableBar = 0x15;

// Little-endian numbers of the space; what lies behind its end reads as nothing.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size(); }
  bool has(size_t offset, size_t size) const { return offset + size <= bytes_.size(); }
  std::optional<uint32_t> get(size_t offset, size_t size) const {
    if (!has(offset, size)) return {};
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint32_t{bytes_[offset + i]} << (8 * i);
    return value;
  }
  uint32_t u8(size_t offset) const { return get(offset, 1).value_or(0); }
  uint32_t u16(size_t offset) const { return get(offset, 2).value_or(0); }
  uint32_t u32(size_t offset) const { return get(offset, 4).value_or(0); }

 private:
  std::span<const uint8_t> bytes_;
};

std::optional<PciId> id_at(const Bytes& bytes, size_t offset) {
  const PciId id{.vendor = static_cast<uint16_t>(bytes.u16(offset)),
                 .device = static_cast<uint16_t>(bytes.u16(offset + 2))};
  if (id == PciId{}) return {};
  return id;
}

// A memory BAR; a register of zeros is none. One with a kind and no address was lost: firmware and
// kernel found no room for it.
void decode_bar(const Bytes& bytes, unsigned index, bool is_64_bit, Function& function) {
  const size_t offset = 0x10 + 4 * size_t{index};
  const uint32_t low = bytes.u32(offset);
  const uint64_t high = is_64_bit ? bytes.u32(offset + 4) : 0;
  const uint64_t base = high << 32 | (low & ~0xfU);
  Bar& bar = bar_at(function, index);
  bar.prefetchable = (low & 0x8) != 0;
  bar.is_64_bit = is_64_bit;
  if (base == 0) bar.size_bytes = 0;
  if (base != 0 && base <= kAddressMax) bar.base = base;
}

void decode_bars(const Bytes& bytes, unsigned num_bars, Function& function) {
  for (unsigned index = 0; index < num_bars; ++index) {
    const uint32_t low = bytes.u32(0x10 + 4 * size_t{index});
    const bool is_io = (low & 1) != 0;
    if (low == 0 || is_io) continue;
    const bool is_64_bit = (low & 0x6) == 0x4 && index + 1 < num_bars;
    decode_bar(bytes, index, is_64_bit, function);
    if (is_64_bit) ++index;
  }
}

// Off where its base lies above its limit, and where nobody set it: on a PC nothing sits at 0.
Window window_of(uint64_t base, uint64_t limit) {
  if (limit < base || base == 0) return {.base = {}, .size_bytes = 0};
  if (limit > kAddressMax) return {};
  return {.base = base, .size_bytes = limit - base + 1};
}

Window memory_window(const Bytes& bytes) {
  const uint64_t base = (bytes.u16(0x20) & 0xfff0U) << 16;
  const uint64_t limit = (bytes.u16(0x22) & 0xfff0U) << 16 | 0xfffffU;
  return window_of(base, limit);
}

Window prefetchable_window(const Bytes& bytes) {
  const uint32_t low = bytes.u16(0x24);
  const bool is_64_bit = (low & 0xf) == 1;
  const uint64_t high_base = is_64_bit ? bytes.u32(0x28) : 0;
  const uint64_t high_limit = is_64_bit ? bytes.u32(0x2c) : 0;
  const uint64_t base = high_base << 32 | (low & 0xfff0U) << 16;
  const uint64_t limit = high_limit << 32 | (bytes.u16(0x26) & 0xfff0U) << 16 | 0xfffffU;
  return window_of(base, limit);
}

void decode_bridge(const Bytes& bytes, Seen& seen) {
  Function& function = seen.function;
  function.is_bridge = true;
  seen.below = BusRange{.secondary = static_cast<uint8_t>(bytes.u8(0x19)),
                        .subordinate = static_cast<uint8_t>(bytes.u8(0x1a))};
  decode_bars(bytes, 2, function);
  function.memory = memory_window(bytes);
  function.prefetchable = prefetchable_window(bytes);
}

std::optional<PortKind> port_of(uint32_t express_type) {
  switch (express_type) {
    case 4:
      return PortKind::root;
    case 5:
      return PortKind::switch_up;
    case 6:
      return PortKind::switch_down;
    default:
      return {};
  }
}

void decode_link(const Bytes& bytes, size_t at, Function& function) {
  const auto capability = bytes.get(at + 0x0c, 4);
  const auto status = bytes.get(at + 0x12, 2);
  if (!capability || !status) return;
  const unsigned max_width = *capability >> 4 & 0x3f;
  if (max_width == 0) return;  // integrated: there is no link
  Link& link = function.link.emplace();
  link.max_gts = link_speed(*capability & 0xf);
  link.max_width = max_width;
  link.now_gts = link_speed(*status & 0xf);
  const unsigned now_width = *status >> 4 & 0x3f;
  if (now_width != 0) link.now_width = now_width;
}

void decode_atomics(const Bytes& bytes, size_t at, Function& function) {
  const auto capability = bytes.get(at + 0x24, 4);
  const auto control = bytes.get(at + 0x28, 2);
  if (!capability || !control) return;
  function.atomics = Atomics{.routing = (*capability & 1U << 6) != 0,
                             .completer_32 = (*capability & 1U << 7) != 0,
                             .completer_64 = (*capability & 1U << 8) != 0,
                             .requester_enabled = (*control & 1U << 6) != 0};
}

void decode_express(const Bytes& bytes, size_t at, Function& function) {
  const uint32_t flags = bytes.u16(at + 2);
  const uint32_t version = flags & 0xf;
  function.port = port_of(flags >> 4 & 0xf);
  decode_link(bytes, at, function);
  if (version >= 2) decode_atomics(bytes, at, function);
  const bool has_slot = (flags & 1U << 8) != 0;
  const uint32_t slot = bytes.u32(at + 0x14) >> 19;
  if (has_slot && slot != 0) function.slot = std::to_string(slot);
}

void decode_power(const Bytes& bytes, size_t at, Function& function) {
  if (const auto control = bytes.get(at + 4, 2)) function.suspended = (*control & 0x3) == 3;
}

void decode_capabilities(const Bytes& bytes, Function& function) {
  const bool has_list = (bytes.u16(0x06) & 0x10) != 0;
  size_t at = has_list ? bytes.u8(0x34) & 0xfcU : 0;
  for (unsigned i = 0; i < kCapabilitiesMax && at >= kHeaderBytes && bytes.has(at, 2); ++i) {
    const uint32_t id = bytes.u8(at);
    if (id == kPowerManagement) decode_power(bytes, at, function);
    if (id == kPciExpress) decode_express(bytes, at, function);
    at = bytes.u8(at + 1) & 0xfcU;
  }
}

void decode_acs(const Bytes& bytes, size_t at, Function& function) {
  const auto control = bytes.get(at + 6, 2);
  if (!control) return;
  function.acs = Acs{.present = true, .control = static_cast<uint16_t>(*control)};
}

// pci-p2p.md, 3.1: size code 0 is 1 MiB, and bit 4 of the capability says that it is offered.
void decode_resizable(const Bytes& bytes, size_t at, Function& function) {
  const uint32_t num_bars = std::min(bytes.u32(at + 8) >> 5 & 0x7, 6U);
  for (uint32_t i = 0; i < num_bars; ++i) {
    const auto offered = bytes.get(at + 4 + 8 * size_t{i}, 4);
    const auto control = bytes.get(at + 8 + 8 * size_t{i}, 4);
    if (!offered || !control || (*control & 0x7) > 5) return;
    Bar& bar = bar_at(function, *control & 0x7);
    bar.resizable.emplace();
    for (unsigned bit = 4; bit < 32; ++bit) {
      if ((*offered >> bit & 1) != 0) bar.resizable->push_back(uint64_t{1} << (bit + 16));
    }
    const uint32_t code = *control >> 8 & 0x3f;
    const bool is_lost = bar.size_bytes == 0;
    if (!is_lost && code + 20 < 57) bar.size_bytes = uint64_t{1} << (code + 20);
  }
}

void decode_extended(const Bytes& bytes, Function& function) {
  function.acs = Acs{};  // there is none, unless the list has it
  size_t at = kLegacyBytes;
  for (unsigned i = 0; i < kExtendedCapabilitiesMax && at >= kLegacyBytes; ++i) {
    const uint32_t header = bytes.u32(at);
    if (header == 0 || header == 0xffffffff) return;
    if ((header & 0xffff) == kAcs) decode_acs(bytes, at, function);
    if ((header & 0xffff) == kResizableBar) decode_resizable(bytes, at, function);
    at = header >> 20 & 0xffcU;
  }
}

ConfigDepth depth_of(size_t num_bytes) {
  if (num_bytes > kLegacyBytes) return ConfigDepth::extended;
  return num_bytes > kHeaderBytes ? ConfigDepth::legacy : ConfigDepth::header;
}

}  // namespace

std::optional<double> link_speed(unsigned code) {
  constexpr std::array<double, 6> kSpeeds{2.5, 5, 8, 16, 32, 64};
  if (code == 0 || code > kSpeeds.size()) return {};
  return kSpeeds[code - 1];
}

void decode_config_space(std::span<const uint8_t> raw, Seen& seen) {
  const Bytes bytes(raw);
  if (bytes.size() < kHeaderBytes) return;
  seen.is_gone = bytes.u32(0) == 0xffffffff;
  if (seen.is_gone) return;
  seen.depth = depth_of(bytes.size());
  Function& function = seen.function;
  function.id = id_at(bytes, 0);
  function.class_code = bytes.u32(0x08) >> 8;
  const bool is_bridge = (bytes.u8(0x0e) & 0x7f) == kBridgeHeader;
  if (is_bridge) {
    decode_bridge(bytes, seen);
  } else {
    decode_bars(bytes, 6, function);
    function.subsystem = id_at(bytes, 0x2c);
  }
  if (seen.depth >= ConfigDepth::legacy) decode_capabilities(bytes, function);
  if (seen.depth == ConfigDepth::extended) decode_extended(bytes, function);
}

}  // namespace evener::host
