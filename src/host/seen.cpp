#include "host/seen.h"

#include <algorithm>

namespace evener::host {

Seen& seen_at(Sightings& sightings, const PciAddress& address) {
  const auto [at, is_new] = sightings.try_emplace(address);
  if (is_new) {
    at->second.function.address = address;
    at->second.function.name = to_string(address);
  }
  return at->second;
}

Bar& bar_at(Function& function, unsigned index) {
  auto at = std::ranges::lower_bound(function.bars, index, {}, &Bar::index);
  if (at == function.bars.end() || at->index != index) {
    at = function.bars.emplace(at);
    at->index = index;
  }
  return *at;
}

}  // namespace evener::host
