#include "host/facts.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace evener::host {
namespace {

// No chain of bridges is longer: each has a bus of its own, and a domain has 256.
constexpr size_t kPortsMax = 256;

struct Key {
  std::optional<PciAddress> address;
  std::string_view name;
};

Key key_of(const Function& function) { return {function.address, function.name}; }

bool is_before(const Key& a, const Key& b) {
  if (a.address.has_value() != b.address.has_value()) return a.address.has_value();
  return std::tie(a.address, a.name) < std::tie(b.address, b.name);
}

const Function* search(const HostFacts& facts, const Key& key) {
  const auto at = std::ranges::lower_bound(facts.functions, key, is_before, key_of);
  return at != facts.functions.end() && at->name == key.name ? &*at : nullptr;
}

template <class T>
const T* find_by(const std::vector<T>& list, const std::string& name, std::string T::* member) {
  const auto at = std::ranges::find(list, name, member);
  return at == list.end() ? nullptr : &*at;
}

bool has(const std::vector<const Function*>& ports, const Function* port) {
  return std::ranges::find(ports, port) != ports.end();
}

std::string letter_name(size_t index) {
  constexpr size_t kLetters = 26;
  const std::string letter(1, static_cast<char>('A' + index % kLetters));
  return index < kLetters ? letter : letter + std::to_string(index / kLetters);
}

}  // namespace

void sort_functions(HostFacts& facts) { std::ranges::sort(facts.functions, is_before, key_of); }

void name_nameless_gpus(HostFacts& facts) {
  std::unordered_set<std::string> taken;
  for (const Gpu& gpu : facts.gpus) taken.insert(gpu.name);
  size_t next = 0;
  for (Gpu& gpu : facts.gpus) {
    while (gpu.name.empty()) {
      const std::string name = letter_name(next++);
      if (taken.insert(name).second) gpu.name = name;
    }
  }
}

const Function* find_function(const HostFacts& facts, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const auto* found = search(facts, {parse_pci_address(name), name})) return found;
  if (const auto* found = search(facts, {std::nullopt, name})) return found;
  return find_by(facts.functions, name, &Function::name);
}

const RootBus* find_root(const HostFacts& facts, const std::string& bus) {
  const auto at = std::ranges::lower_bound(facts.roots, bus, {}, &RootBus::bus);
  if (at != facts.roots.end() && at->bus == bus) return &*at;
  return find_by(facts.roots, bus, &RootBus::bus);
}

const Gpu* find_gpu(const HostFacts& facts, const std::string& name) {
  return find_by(facts.gpus, name, &Gpu::name);
}

Ancestors ancestors(const HostFacts& facts, const std::string& name) {
  Ancestors up;
  const Function* at = find_function(facts, name);
  while (at != nullptr && up.ports.size() < kPortsMax) {
    const bool is_bus = !parse_pci_address(at->parent);
    up.root = is_bus ? find_root(facts, at->parent) : nullptr;
    if (up.root != nullptr) break;
    const Function* above = find_function(facts, at->parent);
    if (above == nullptr || above->name == name || has(up.ports, above)) break;
    up.ports.push_back(above);
    at = above;
  }
  return up;
}

}  // namespace evener::host
