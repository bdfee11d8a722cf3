#include "doctor/gaps.h"

#include <fmt/format.h>

#include "doctor/amd_driver.h"
#include "doctor/bar_cause.h"
#include "doctor/reach.h"
#include "doctor/settings.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Gaps = std::vector<std::string>;

void add_card(const Card& card, Gaps& gaps) {
  if (!card.gpu->in_kfd) {
    gaps.push_back("whether KFD has " + card.name());
  } else if (!*card.gpu->in_kfd) {
    gaps.push_back("why KFD does not have " + card.name());
  }
}

void add_build(const Case& c, Gaps& gaps) {
  const auto& kernel = c.facts.kernel;
  if (!setting(kernel.config, "CONFIG_HSA_AMD_P2P") ||
      !setting(kernel.config, "CONFIG_PCI_P2PDMA")) {
    gaps.emplace_back("kernel options PCI_P2PDMA and HSA_AMD_P2P");
  }
  if (amd_driver(c) == AmdDriver::unknown) {
    gaps.emplace_back(
        "whether this amdgpu has peer access over PCIe (Linux 6.0, or ROCm's package)");
  }
}

void add_size(const Case& c, const Card& card, Gaps& gaps) {
  if (!needs_whole_bar(c, card)) return;
  if (!card.bar_bytes) gaps.push_back("size of the VRAM BAR of " + card.name());
  if (!card.need_bytes) gaps.push_back("size of the VRAM of " + card.name());
}

void add_reach(const Direction& way, Gaps& gaps) {
  switch (reach(way)) {
    case Reach::unknown:
      if (!way.target->bar_base) add_new(gaps, "address of the VRAM BAR of " + way.target->name());
      if (!way.source->dma_mask_bits) add_new(gaps, "DMA mask of " + way.source->name());
      return;
    case Reach::mode_unknown:
      add_new(gaps, std::string("IOMMU mode"));
      return;
    case Reach::within:
    case Reach::above:
    case Reach::translated:
      return;
  }
}

void add_list(const Case& c, const Pair& pair, Gaps& gaps) {
  for (const Card* card : {pair.a, pair.b}) {
    if (card->root == nullptr) continue;
    const ListAnswer& answer = c.list_answers.at(card->root);
    if (answer.kind == ListAnswer::Kind::unknown) add_new(gaps, answer.why);
  }
}

void add_route(const Case& c, const Pair& pair, Gaps& gaps) {
  const Path& path = pair.path;
  if (!path.is_known) {
    gaps.emplace_back("below which ports the cards are");
    return;
  }
  const bool is_root_route = path.common == nullptr || path.redirects();
  if (c.is_zen() == true) return;  // accepted either way
  if (!is_root_route) {
    for (const host::Function* port : path.unread) gaps.push_back("ACS control of " + port->name);
    return;
  }
  if (!c.is_zen()) gaps.emplace_back("maker and family of the CPU");
  if (c.is_zen() == false) add_list(c, pair, gaps);
}

Gaps nvidia_gaps(const Case& c, const Pair& pair) {
  Gaps gaps;
  if (pair.peers == Observation::none) {
    gaps.emplace_back("the driver's own verdict (nvidia-smi topo -p2p r)");
  }
  for (const Card* card : {pair.a, pair.b}) add_size(c, *card, gaps);
  return gaps;
}

Gaps amd_gaps(const Case& c, const Pair& pair) {
  Gaps gaps;
  for (const Card* card : {pair.a, pair.b}) add_card(*card, gaps);
  add_build(c, gaps);
  for (const Card* card : {pair.a, pair.b}) add_size(c, *card, gaps);
  add_reach({pair.a, pair.b}, gaps);
  add_reach({pair.b, pair.a}, gaps);
  add_route(c, pair, gaps);
  return gaps;
}

}  // namespace

std::vector<std::string> find_gaps(const Case& c, const Pair& pair) {
  if (c.is_guest) return {};
  if (pair.both(Maker::nvidia)) return nvidia_gaps(c, pair);
  if (pair.both(Maker::amd)) return amd_gaps(c, pair);
  Gaps gaps;
  if (!pair.both(Maker::intel)) {
    gaps.emplace_back("any rule for cards of different or unknown makers");
    return gaps;
  }
  add_route(c, pair, gaps);
  return gaps;
}

}  // namespace evener::doctor
