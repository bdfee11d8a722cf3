#include "host/lspci_details.h"

#include <algorithm>
#include <array>

#include "host/limits.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

// "ReqRedir+" is true, "ReqRedir-" false.
std::optional<bool> flag_of(std::string_view line, std::string_view name) {
  const auto rest = after(line, name);
  if (!rest || rest->empty()) return {};
  if (rest->front() == '+') return true;
  if (rest->front() == '-') return false;
  return {};
}

// The older lspci calls a 32-bit completer "32bit", newer ones "32bitComp".
std::optional<bool> completer(std::string_view line, std::string_view bits) {
  const auto brief = flag_of(line, std::string(bits) + "bit");
  return brief ? brief : flag_of(line, std::string(bits) + "bitComp");
}

std::optional<PciId> bracketed_id(std::string_view line) {
  const size_t open = line.rfind('[');
  if (open == std::string_view::npos) return {};
  const auto inside = between(line.substr(open), "[", "]");
  return inside ? parse_pci_id(*inside) : std::nullopt;
}

// "00000000c0000000-00000000d01fffff [size=258M] [64-bit]", "None", "... [disabled]"
Window window_of(std::string_view text) {
  const std::string_view range_text = before(trim(text), " ");
  if (range_text == "None" || text.find("[disabled]") != std::string_view::npos) {
    return {.base = {}, .size_bytes = 0};
  }
  const auto range = parse_range(range_text);
  if (!range) return {};
  if (range->is_off() || range->first == 0) return {.base = {}, .size_bytes = 0};
  return {.base = range->first, .size_bytes = range->size_bytes()};
}

uint16_t acs_control(std::string_view line) {
  constexpr std::array<std::string_view, 7> kBits{
      "SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"};
  unsigned control = 0;
  for (size_t bit = 0; bit < kBits.size(); ++bit) {
    if (flag_of(line, kBits[bit]).value_or(false)) control |= 1U << bit;
  }
  return static_cast<uint16_t>(control);
}

std::optional<PortKind> port_of(std::string_view capability) {
  if (capability.find("Root Port") != std::string_view::npos) return PortKind::root;
  if (capability.find("Upstream Port") != std::string_view::npos) return PortKind::switch_up;
  if (capability.find("Downstream Port") != std::string_view::npos) return PortKind::switch_down;
  return {};
}

std::optional<uint8_t> bus_after(std::string_view line, std::string_view key) {
  const auto rest = after(line, key);
  const uint64_t bus = rest ? leading_uint(*rest, 16).value_or(~uint64_t{0}) : ~uint64_t{0};
  if (bus > 0xff) return {};
  return static_cast<uint8_t>(bus);
}

// "Bus: primary=00, secondary=05, subordinate=07, sec-latency=0"
std::optional<BusRange> buses_in(std::string_view line) {
  const auto secondary = bus_after(line, "secondary=");
  const auto subordinate = bus_after(line, "subordinate=");
  if (!secondary || !subordinate) return {};
  return BusRange{*secondary, *subordinate};
}

std::optional<unsigned> width_of(std::string_view line) {
  const auto rest = after(line, "Width x");
  const auto width = rest ? leading_uint(*rest) : std::nullopt;
  if (!width || *width == 0 || *width > 32) return {};
  return static_cast<unsigned>(*width);
}

std::optional<double> speed_of(std::string_view line) {
  const auto rest = after(line, "Speed ");
  return rest ? leading_real(*rest) : std::nullopt;
}

}  // namespace

void LspciDetails::read(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.starts_with("Capabilities:")) return read_capability(text);
  if (text.starts_with("Flags:")) return read_flags(text);
  if (text.starts_with("Region ") || text.starts_with("Memory at ") ||
      text.starts_with("I/O ports at ")) {
    return read_region(text);
  }
  if (text.starts_with("BAR ")) return read_resizable(text);
  if (read_bridge(text) || read_identity(text)) return;
  read_express(text);
}

void LspciDetails::finish() {
  Function& function = seen_->function;
  if (has_extended_ && !seen_->access_denied) {
    seen_->depth = ConfigDepth::extended;
    if (!function.acs) function.acs = Acs{};
  }
}

// "Flags: bus master, fast devsel, latency 0, IRQ 87, NUMA node 0, IOMMU group 12"
void LspciDetails::read_flags(std::string_view line) {
  if (const auto rest = after(line, "NUMA node ")) {
    if (const auto node = leading_uint(*rest); node && *node < 65'536) {
      seen_->function.numa_node = static_cast<int>(*node);
    }
  }
  if (const auto rest = after(line, "IOMMU group ")) {
    if (const auto group = leading_uint(*rest); group && *group < 1'000'000) {
      seen_->function.iommu_group = static_cast<unsigned>(*group);
    }
  }
}

// "Region 0: Memory at 380400000000 (64-bit, prefetchable) [size=8G]"; -v leaves out the number.
void LspciDetails::read_region(std::string_view line) {
  const auto number = line.starts_with("Region ") ? leading_uint(line.substr(7)) : std::nullopt;
  if (!number) seen_->bars_are_guessed = true;
  const unsigned index =
      number ? static_cast<unsigned>(std::min<uint64_t>(*number, 6)) : next_region_;
  const bool is_64_bit = line.find("64-bit") != std::string_view::npos;
  next_region_ = index + (is_64_bit ? 2 : 1);
  const auto place = after(line, "Memory at ");
  if (!place || index > 5) return;
  Bar& bar = bar_at(seen_->function, index);
  bar.is_64_bit = is_64_bit;
  bar.prefetchable = line.find("non-prefetchable") == std::string_view::npos &&
                     line.find("prefetchable") != std::string_view::npos;
  const bool has_place =
      !place->starts_with("<") && line.find("[virtual]") == std::string_view::npos;
  const auto base = has_place ? leading_uint(*place, 16) : std::nullopt;
  if (base && *base != 0 && *base <= kAddressMax) bar.base = *base;
  if (const auto size = between(line, "[size=", "]")) bar.size_bytes = parse_size(*size);
  if (place->starts_with("<unassigned>") || place->starts_with("<ignored>")) bar.size_bytes = 0;
}

// "Capabilities: [100 v1] Access Control Services"; the extended ones have a version.
void LspciDetails::read_capability(std::string_view line) {
  capability_ = {};
  if (line.find("<access denied>") != std::string_view::npos) {
    seen_->access_denied = true;
    return;
  }
  const auto place = between(line, "[", "]");
  const auto name = after(line, "] ");
  if (!place || !name) return;
  capability_ = *name;
  if (place->find(" v") != std::string_view::npos) has_extended_ = true;
  if (!name->starts_with("Express")) return;
  if (const auto port = port_of(*name)) seen_->function.port = port;
}

void LspciDetails::read_link(std::string_view line) {
  Function& function = seen_->function;
  if (!function.link) function.link.emplace();
  const bool is_capability = line.starts_with("LnkCap");
  (is_capability ? function.link->max_gts : function.link->now_gts) = speed_of(line);
  (is_capability ? function.link->max_width : function.link->now_width) = width_of(line);
}

bool LspciDetails::read_bridge(std::string_view line) {
  Function& function = seen_->function;
  if (line.starts_with("Bus:")) {
    if (const auto buses = buses_in(line)) {
      function.is_bridge = true;
      seen_->below = buses;
    }
    return true;
  }
  if (const auto rest = after(line, "Prefetchable memory behind bridge: ")) {
    function.is_bridge = true;
    function.prefetchable = window_of(*rest);
    return true;
  }
  if (const auto rest = after(line, "Memory behind bridge: ")) {
    function.is_bridge = true;
    function.memory = window_of(*rest);
    return true;
  }
  return false;
}

bool LspciDetails::read_identity(std::string_view line) {
  Function& function = seen_->function;
  if (line.starts_with("Subsystem:")) {
    function.subsystem = bracketed_id(line);
    if (!function.subsystem) function.subsystem = parse_pci_id(trim(line.substr(10)));
  } else if (const auto slot = after(line, "Physical Slot: ")) {
    function.slot = clean(trim(*slot));
  } else if (line.starts_with("NUMA node:")) {
    const auto node = leading_uint(trim(line.substr(10)));
    if (node && *node < 65'536) function.numa_node = static_cast<int>(*node);
  } else if (line.starts_with("IOMMU group:")) {
    const auto group = leading_uint(trim(line.substr(12)));
    if (group && *group < 1'000'000) function.iommu_group = static_cast<unsigned>(*group);
  } else if (const auto driver = after(line, "Kernel driver in use: ")) {
    function.driver = clean(trim(*driver));
  } else if (line.starts_with("!!! Unknown header type")) {
    seen_->is_gone = true;
  } else {
    return false;
  }
  return true;
}

bool LspciDetails::read_express(std::string_view line) {
  Function& function = seen_->function;
  if (line.starts_with("LnkCap:") || line.starts_with("LnkSta:")) {
    read_link(line);
  } else if (const auto can = after(line, "AtomicOpsCap: ")) {
    if (!function.atomics) function.atomics.emplace();
    function.atomics->routing = flag_of(*can, "Routing").value_or(false);
    function.atomics->completer_32 = completer(*can, "32");
    function.atomics->completer_64 = completer(*can, "64");
  } else if (const auto control = after(line, "AtomicOpsCtl: ")) {
    if (!function.atomics) function.atomics.emplace();
    function.atomics->requester_enabled = flag_of(*control, "ReqEn");
  } else if (line.starts_with("ACSCtl:")) {
    function.acs = Acs{.present = true, .control = acs_control(line)};
  } else if (line.starts_with("Status: D") && capability_.starts_with("Power Management")) {
    function.suspended = line.starts_with("Status: D3");
  } else {
    return false;
  }
  return true;
}

// "BAR 0: current size: 256MB, supported: 256MB 512MB 1GB"; those of virtual functions look alike.
void LspciDetails::read_resizable(std::string_view line) {
  if (capability_.find("Virtual") != std::string_view::npos) return;
  const auto index = leading_uint(line.substr(4));
  const auto supported = after(line, "supported: ");
  if (!index || *index > 5 || !supported) return;
  Bar& bar = bar_at(seen_->function, static_cast<unsigned>(*index));
  bar.resizable.emplace();
  for (const std::string_view word : words(*supported)) {
    if (const auto size = parse_size(word)) bar.resizable->push_back(*size);
  }
  const auto current = between(line, "current size: ", ",");
  const auto size = current ? parse_size(*current) : std::nullopt;
  if (size && !bar.size_bytes) bar.size_bytes = size;
}

}  // namespace evener::host
