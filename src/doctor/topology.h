#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/facts.h"

namespace evener::doctor {

// The ports above a function, the nearest first.
struct WayUp {
  std::vector<const host::Function*> ports;
  const host::RootBus* root = nullptr;  // null: the way is not known to its end
};

// The tree of a machine with its edges in both directions. Trees from outside may have cycles and
// parents that nobody knows; every walk here ends. The facts must outlive it.
class Topology {
 public:
  explicit Topology(const host::HostFacts& facts);

  const host::Function* find(std::string_view name) const;  // null: there is none
  WayUp way_up(const host::Function& function) const;
  const std::vector<const host::Function*>& below(const host::Function& port) const;
  const std::vector<const host::Function*>& below(const host::RootBus& root) const;

  // The root bus that a bus number belongs to: the last that begins at or before it. Only where
  // several are known, and only as good as the list is complete.
  const host::RootBus* root_by_number(const host::PciAddress& address) const;

 private:
  using Functions = std::vector<const host::Function*>;

  const host::HostFacts& facts_;
  std::unordered_map<std::string_view, const host::Function*> functions_;
  std::unordered_map<std::string_view, const host::RootBus*> roots_;
  std::unordered_map<std::string_view, Functions> below_;  // by the name of port or root bus
};

// Does the way up from `function` lead through `port`?
bool leads_through(const WayUp& way, const host::Function& port);

}  // namespace evener::doctor
