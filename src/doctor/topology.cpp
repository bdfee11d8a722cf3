#include "doctor/topology.h"

#include <algorithm>
#include <charconv>

namespace evener::doctor {
namespace {

// No chain of bridges is longer: each has a bus of its own, and a domain has 256.
constexpr size_t kPortsMax = 256;

struct BusNumber {
  uint32_t domain = 0;
  uint32_t bus = 0;
};

std::optional<uint32_t> parse_hex(std::string_view digits) {
  uint32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, 16);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return value;
}

// "0000:a0"
std::optional<BusNumber> parse_bus(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const auto domain = parse_hex(text.substr(0, colon));
  const auto bus = parse_hex(text.substr(colon + 1));
  if (!domain || !bus) return {};
  return BusNumber{*domain, *bus};
}

}  // namespace

Topology::Topology(const host::HostFacts& facts) : facts_(facts) {
  for (const host::RootBus& root : facts.roots) roots_.emplace(root.bus, &root);
  for (const host::Function& function : facts.functions) {
    functions_.emplace(function.name, &function);
    if (!function.parent.empty()) below_[function.parent].push_back(&function);
  }
}

const host::Function* Topology::find(std::string_view name) const {
  const auto at = functions_.find(name);
  return at == functions_.end() ? nullptr : at->second;
}

WayUp Topology::way_up(const host::Function& function) const {
  WayUp way;
  std::string_view parent = function.parent;
  while (way.ports.size() < kPortsMax) {
    if (const auto root = roots_.find(parent); root != roots_.end()) {
      way.root = root->second;
      break;
    }
    const host::Function* port = find(parent);
    if (port == nullptr || port == &function) break;
    if (std::ranges::find(way.ports, port) != way.ports.end()) break;
    way.ports.push_back(port);
    parent = port->parent;
  }
  return way;
}

const std::vector<const host::Function*>& Topology::below(const host::Function& port) const {
  static const Functions kNone;
  const auto at = below_.find(port.name);
  return at == below_.end() ? kNone : at->second;
}

const std::vector<const host::Function*>& Topology::below(const host::RootBus& root) const {
  static const Functions kNone;
  const auto at = below_.find(root.bus);
  return at == below_.end() ? kNone : at->second;
}

const host::RootBus* Topology::root_by_number(const host::PciAddress& address) const {
  const host::RootBus* best = nullptr;
  uint32_t best_bus = 0;
  for (const host::RootBus& root : facts_.roots) {
    const auto number = parse_bus(root.bus);
    if (!number || number->domain != address.domain || number->bus > address.bus) continue;
    if (best != nullptr && number->bus < best_bus) continue;
    best = &root;
    best_bus = number->bus;
  }
  return best;
}

bool leads_through(const WayUp& way, const host::Function& port) {
  return std::ranges::find(way.ports, &port) != way.ports.end();
}

}  // namespace evener::doctor
