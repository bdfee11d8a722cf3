#include "host/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "host/device_ids.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

// "Navi 31 [Radeon RX 7900 XT/7900 XTX]" is known by what stands in the last brackets.
std::string model_of(const std::string& description) {
  const size_t open = description.rfind('[');
  const size_t close = description.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return description;
  const std::string inside = description.substr(open + 1, close - open - 1);
  return inside == "AMD/ATI" ? std::string(trim(description.substr(close + 1))) : inside;
}

const Bar* largest_prefetchable(const Function& function) {
  const Bar* largest = nullptr;
  for (const Bar& bar : function.bars) {
    if (!bar.prefetchable.value_or(false)) continue;
    if (largest == nullptr || bar.size_bytes > largest->size_bytes) largest = &bar;
  }
  return largest;
}

std::optional<unsigned> find_vram_bar(Seen& seen) {
  Function& function = seen.function;
  if (seen.bars_are_guessed) {
    const Bar* bar = largest_prefetchable(function);
    return bar != nullptr ? std::optional(bar->index) : std::nullopt;
  }
  const auto index = vram_bar_of(vendor_of(function));
  if (!index || !seen.bars_are_complete) return index;
  // A card cannot be without this BAR: missing from a list of all, it found no room.
  Bar& bar = bar_at(function, *index);
  if (!bar.size_bytes) bar.size_bytes = 0;
  return index;
}

void add_dma_mask(const Gpu& gpu, size_t index, Function& function, HostFacts& facts) {
  if (function.dma_mask_bits || function.driver.value_or("amdgpu") != "amdgpu") return;
  function.dma_mask_bits = dma_mask_of(gpu.gfx);
  if (!function.dma_mask_bits) return;
  facts.placeholders.push_back(
      fmt::format("gpus[{}].dma_mask_bits (table by {}, not read)", index, gpu.gfx));
}

Gpu gpu_of(Seen& seen, bool has_kfd) {
  const Function& function = seen.function;
  Gpu gpu{.name = {},
          .function = function.name,
          .model = seen.card.model,
          .gfx = seen.card.gfx,
          .vram_bytes = seen.card.vram_bytes,
          .visible_vram_bytes = seen.card.visible_vram_bytes,
          .vram_bar = find_vram_bar(seen),
          .in_kfd = seen.card.in_kfd,
          .power_limit_watts = seen.card.power_limit_watts};
  if (gpu.model.empty()) gpu.model = model_of(function.description);
  if (gpu.gfx.empty() && function.id) gpu.gfx = gfx_of(*function.id);
  if (has_kfd && !gpu.in_kfd && is_amd(function)) gpu.in_kfd = false;
  return gpu;
}

std::map<PciAddress, std::string> names_by_address(const HostFacts& facts) {
  std::map<PciAddress, std::string> names;
  for (const Gpu& gpu : facts.gpus) {
    const Function* function = find_function(facts, gpu.function);
    if (function != nullptr && function->address) names[*function->address] = gpu.name;
  }
  return names;
}

std::string name_at(const std::map<PciAddress, std::string>& names, const PciAddress& address) {
  const auto at = names.find(address);
  return at == names.end() ? std::string() : at->second;
}

}  // namespace

void add_gpus(Sightings& functions, bool has_kfd, HostFacts& facts) {
  for (auto& [address, seen] : functions) {
    if (!is_gpu(seen.function)) continue;
    facts.gpus.push_back(gpu_of(seen, has_kfd));
    add_dma_mask(facts.gpus.back(), facts.gpus.size() - 1, seen.function, facts);
  }
  name_nameless_gpus(facts);
}

CardOrder card_order(const HostFacts& facts) {
  CardOrder order;
  for (const Gpu& gpu : facts.gpus) {
    const Function* function = find_function(facts, gpu.function);
    if (function == nullptr || !function->address) continue;
    if (is_amd(*function)) order.amd.push_back(*function->address);
    if (is_nvidia(*function)) order.nvidia.push_back(*function->address);
  }
  return order;
}

void add_peers(const std::vector<PeerSeen>& peers, HostFacts& facts) {
  const auto names = names_by_address(facts);
  for (const PeerSeen& peer : peers) {
    const std::string from = name_at(names, peer.from);
    const std::string to = name_at(names, peer.to);
    if (from.empty() || to.empty()) continue;
    PeerObservation& seen = facts.observed.peers.emplace_back();
    seen.from = from;
    seen.to = to;
    seen.allowed = peer.allowed;
    seen.reason = peer.reason;
  }
}

void add_tools(const Tools& tools, HostFacts& facts) {
  add_peers(tools.peers, facts);
  const auto names = names_by_address(facts);
  for (const RateSeen& rate : tools.rates) {
    std::string of = name_at(names, rate.of);
    if (of.empty()) continue;
    if (rate.to) of += "-" + name_at(names, *rate.to);
    facts.observed.rates.push_back({rate.what, of, rate.gb_per_s});
  }
  for (const TopologyWord& word : tools.topology) {
    const std::string pair = name_at(names, word.a) + "-" + name_at(names, word.b);
    facts.observed.other["tools"]["nvidia-topo-m"][pair] = word.word;
  }
  for (const std::string& sentence : tools.unclear) {
    facts.missing.push_back({"a tool's output", sentence, "run the tool on this machine again"});
  }
}

void add_refusals(const std::vector<PeerSeen>& granted, HostFacts& facts) {
  std::set<std::pair<PciAddress, PciAddress>> grants;
  for (const PeerSeen& peer : granted) grants.insert({peer.from, peer.to});
  std::vector<PciAddress> cards;
  for (const Gpu& gpu : facts.gpus) {
    const Function* function = find_function(facts, gpu.function);
    if (gpu.in_kfd.value_or(false) && function != nullptr && function->address) {
      cards.push_back(*function->address);
    }
  }
  constexpr size_t kCardsMax = 64;  // pairs grow with the square
  if (cards.size() > kCardsMax) return;
  std::vector<PeerSeen> refused;
  for (const PciAddress& from : cards) {
    for (const PciAddress& to : cards) {
      if (from != to && !grants.contains({from, to})) refused.push_back({from, to, false, {}});
    }
  }
  add_peers(refused, facts);
}

}  // namespace evener::host
