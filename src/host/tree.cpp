#include "host/tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "host/device_ids.h"

namespace evener::host {
namespace {

constexpr uint64_t kFourGiB = uint64_t{1} << 32;

using BusNumber = std::pair<uint32_t, uint8_t>;  // domain and bus

// Which buses lie behind which bridges, from the bridges' own registers.
class BusMap {
 public:
  explicit BusMap(const Sightings& functions) {
    for (const auto& [address, seen] : functions) {
      if (!seen.below || seen.below->secondary <= address.bus) continue;
      owners_.try_emplace({address.domain, seen.below->secondary}, seen.function.name);
      auto& covered = covered_[address.domain];
      for (unsigned bus = seen.below->secondary; bus <= seen.below->subordinate; ++bus) {
        covered.at(bus) = true;
      }
    }
  }

  const std::string* owner(const BusNumber& bus) const {
    const auto at = owners_.find(bus);
    return at == owners_.end() ? nullptr : &at->second;
  }
  bool is_covered(const BusNumber& bus) const {
    const auto at = covered_.find(bus.first);
    return at != covered_.end() && at->second.at(bus.second);
  }

 private:
  std::map<BusNumber, std::string> owners_;
  std::map<uint32_t, std::array<bool, 256>> covered_;
};

std::set<std::string> known_roots(const Sightings& functions, const BusEvidence& evidence) {
  std::set<std::string> roots;
  for (const auto& [bus, windows] : evidence.iomem) roots.insert(bus);
  for (const auto& [bus, windows] : evidence.log) roots.insert(bus);
  for (const auto& [address, seen] : functions) {
    if (canonical_bus(seen.function.parent)) roots.insert(seen.function.parent);
  }
  return roots;
}

// Without a path: the bridge with this bus behind it, else the root bus if it is one.
void find_parents(Sightings& functions, bool is_whole, std::set<std::string>& roots) {
  const BusMap buses(functions);
  for (auto& [address, seen] : functions) {
    if (!seen.function.parent.empty()) continue;
    const BusNumber bus{address.domain, address.bus};
    const std::string name = bus_name(address.domain, address.bus);
    if (const std::string* owner = buses.owner(bus)) {
      seen.function.parent = *owner;
    } else if (roots.contains(name) || (is_whole && !buses.is_covered(bus))) {
      seen.function.parent = name;
      roots.insert(name);
    }
  }
}

const Seen* parent_of(const Seen& seen, const Sightings& functions) {
  const auto address = parse_pci_address(seen.function.parent);
  const auto at = address ? functions.find(*address) : functions.end();
  return at == functions.end() ? nullptr : &at->second;
}

// PCI Express alternates on the way down: root port, then up and down for each switch.
std::optional<PortKind> kind_below(const Seen* parent, bool is_on_root_bus) {
  if (is_on_root_bus) return PortKind::root;
  if (parent == nullptr || !parent->function.port) return {};
  switch (*parent->function.port) {
    case PortKind::root:
    case PortKind::switch_down:
    case PortKind::card_down:
      return PortKind::switch_up;
    case PortKind::switch_up:
    case PortKind::card_up:
      return PortKind::switch_down;
  }
  return {};
}

// Only where the registers that say it were not captured.
void find_kind(Seen& seen, const Sightings& functions) {
  Function& function = seen.function;
  if (!function.is_bridge) return;
  if (!function.port && function.link && seen.depth < ConfigDepth::legacy) {
    const bool is_on_root_bus = canonical_bus(function.parent).has_value();
    function.port = kind_below(parent_of(seen, functions), is_on_root_bus);
  }
  if (!is_switch_of_card(function)) return;
  if (function.port == PortKind::switch_up) function.port = PortKind::card_up;
  if (function.port == PortKind::switch_down) function.port = PortKind::card_down;
}

// Of several windows above 4 GiB the largest is the one for cards.
void add_windows(const HostWindows& windows, RootBus& root) {
  for (const AddressRange& range : windows.ranges) {
    const Window window{.base = range.first, .size_bytes = range.size_bytes()};
    if (range.first < kFourGiB) {
      root.memory_below.push_back(window);
    } else if (window.size_bytes > root.memory_64.size_bytes) {
      root.memory_64 = window;
    }
  }
  const bool has_any = !windows.ranges.empty();
  if (windows.is_whole && has_any && !root.memory_64.size_bytes) root.memory_64.size_bytes = 0;
}

std::optional<bool> is_root_port(const Function& function) {
  if (function.port) return function.port == PortKind::root;
  if (function.class_code && !function.is_bridge) return false;
  return {};
}

void add_first(const Function& function, RootBus& root) {
  if (!root.first.name.empty()) return;  // functions come in order
  root.first.name = function.name;
  root.first.id = function.id;
  root.first.is_root_port = is_root_port(function);
}

void add_functions(const Sightings& functions, bool is_whole,
                   std::map<std::string, RootBus>& roots) {
  for (const auto& [address, seen] : functions) {
    const auto at = roots.find(seen.function.parent);
    if (at == roots.end()) continue;
    if (is_whole) add_first(seen.function, at->second);
    const auto node = seen.function.numa_node;
    if (node && *node >= 0 && !at->second.numa_node) at->second.numa_node = node;
  }
}

}  // namespace

void connect(Sightings& functions, const BusEvidence& evidence, HostFacts& facts) {
  std::set<std::string> names = known_roots(functions, evidence);
  find_parents(functions, evidence.is_whole, names);
  // Buses behind a bridge have higher numbers: parents come before their children.
  for (auto& [address, seen] : functions) find_kind(seen, functions);
  std::map<std::string, RootBus> roots;
  for (const std::string& name : names) {
    RootBus& root = roots[name];
    root.bus = name;
    const bool in_iomem = evidence.iomem.contains(name);
    const WindowsByBus& source = in_iomem ? evidence.iomem : evidence.log;
    if (const auto at = source.find(name); at != source.end()) add_windows(at->second, root);
  }
  add_functions(functions, evidence.is_whole, roots);
  for (auto& [name, root] : roots) facts.roots.push_back(std::move(root));
}

}  // namespace evener::host
