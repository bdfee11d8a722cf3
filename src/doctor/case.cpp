#include "doctor/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "doctor/bar_cause.h"
#include "doctor/diagnose.h"
#include "doctor/path.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr host::PciId kQemuBridges[] = {{0x8086, 0x29c0}, {0x8086, 0x1237}};
constexpr unsigned kZenFamily = 0x17;
constexpr Release kZenRule{5, 9};
constexpr uint64_t kBarMax = uint64_t{1} << 47;  // 128 TiB, the largest that ReBAR can name

template <size_t N>
bool mentions_any(std::string_view text, const std::array<const char*, N>& words) {
  return std::ranges::any_of(words, [&](const char* word) { return mentions(text, word); });
}

Maker maker_of_vendor(uint16_t vendor) {
  switch (vendor) {
    case 0x1002:
      return Maker::amd;
    case 0x10de:
      return Maker::nvidia;
    case 0x8086:
      return Maker::intel;
    default:
      return Maker::unknown;
  }
}

Maker maker_of_driver(std::string_view driver) {
  if (driver == "amdgpu") return Maker::amd;
  if (driver == "nvidia" || driver == "nouveau") return Maker::nvidia;
  if (driver == "xe" || driver == "i915") return Maker::intel;
  return Maker::unknown;
}

Maker maker_of_model(std::string_view model) {
  static constexpr std::array kNvidia = {"geforce", "nvidia", "quadro", "tesla", "rtx ", "cmp "};
  static constexpr std::array kAmdWords = {"radeon", "instinct", "vega", "firepro"};
  static constexpr std::array kIntelWords = {"arc ", "intel"};
  if (mentions_any(model, kNvidia)) return Maker::nvidia;
  if (mentions_any(model, kAmdWords)) return Maker::amd;
  if (mentions_any(model, kIntelWords)) return Maker::intel;
  return Maker::unknown;
}

Maker maker_of(const host::Gpu& gpu, const host::Function* function) {
  Maker maker = Maker::unknown;
  if (function != nullptr && function->id) maker = maker_of_vendor(function->id->vendor);
  if (maker == Maker::unknown && function != nullptr && function->driver) {
    maker = maker_of_driver(*function->driver);
  }
  if (maker == Maker::unknown && !gpu.gfx.empty()) maker = Maker::amd;
  return maker == Maker::unknown ? maker_of_model(gpu.model) : maker;
}

const host::Bar* vram_bar(const host::Gpu& gpu, const host::Function& function, Maker maker) {
  const unsigned usual = maker == Maker::nvidia ? 1 : maker == Maker::intel ? 2 : 0;
  const unsigned index = gpu.vram_bar.value_or(usual);
  const auto at = std::ranges::find(function.bars, index, &host::Bar::index);
  return at == function.bars.end() ? nullptr : &*at;
}

void add_bar(Card& card, bool is_guest) {
  card.bar = vram_bar(*card.gpu, *card.function, card.maker);
  card.bar_bytes = card.gpu->visible_vram_bytes;
  if (card.bar == nullptr) return;
  if (card.bar->size_bytes) card.bar_bytes = card.bar->size_bytes;
  card.bar_base = card.bar->base;
  const bool is_listed = card.bar->resizable && !card.bar->resizable->empty();
  if (is_listed && !is_guest) card.bar_bytes_max = std::ranges::max(*card.bar->resizable);
}

// What a driver would ask for: the VRAM rounded up, as far as the card offers it.
void add_need(Card& card) {
  card.need_bytes = card.gpu->vram_bytes;
  if (!card.need_bytes || *card.need_bytes == 0 || *card.need_bytes > kBarMax) return;
  const uint64_t rounded = std::bit_ceil(*card.need_bytes);
  card.bar_wanted = std::min(rounded, card.bar_bytes_max.value_or(rounded));
}

Card make_card(const Case& c, const host::Gpu& gpu) {
  Card card;
  card.gpu = &gpu;
  card.function = c.topology.find(gpu.function);
  card.maker = maker_of(gpu, card.function);
  card.iommu = c.facts.iommu;
  if (card.function == nullptr) return card;
  card.way = c.topology.way_up(*card.function);
  card.root = card.way.root;
  if (card.root == nullptr && card.function->address) {
    card.root = c.topology.root_by_number(*card.function->address);
  }
  // Of one host bridge nothing can be anywhere else.
  if (card.root == nullptr && c.facts.roots.size() == 1) card.root = &c.facts.roots.front();
  card.dma_mask_bits = card.function->dma_mask_bits;
  if (card.function->iommu) card.iommu = card.function->iommu;
  add_bar(card, c.is_guest);
  add_need(card);
  return card;
}

bool is_guest(const host::HostFacts& facts) {
  if (facts.machine.guest.value_or(false)) return true;
  return std::ranges::any_of(facts.roots, [](const host::RootBus& root) {
    return root.first.id &&
           std::ranges::find(kQemuBridges, *root.first.id) != std::ranges::end(kQemuBridges);
  });
}

Observation observed(const host::HostFacts& facts, const std::string& a, const std::string& b) {
  Observation result = Observation::none;
  for (const host::PeerObservation& peer : facts.observed.peers) {
    const bool is_ours = (peer.from == a && peer.to == b) || (peer.from == b && peer.to == a);
    if (!is_ours) continue;
    if (!peer.allowed) return Observation::refused;
    result = Observation::allowed;
  }
  return result;
}

void add_bridges(Case& c) {
  for (const Card& card : c.cards) {
    if (card.function != nullptr) c.card_of.emplace(card.function, &card);
    for (const host::Function* port : card.way.ports) c.bridges[port].cards.push_back(&card);
  }
  for (auto& [port, bridge] : c.bridges) {
    bridge.port = port;
    bridge.wanted = room_for(c, c.topology.below(*port), BarSizes::wanted);
  }
  for (const Card& card : c.cards) {
    if (card.way.root == nullptr || c.wanted.contains(card.way.root)) continue;
    c.wanted[card.way.root] = room_for(c, c.topology.below(*card.way.root), BarSizes::wanted);
  }
}

void add_pairs(Case& c) {
  for (size_t i = 0; i < c.cards.size(); ++i) {
    for (size_t k = i + 1; k < c.cards.size(); ++k) {
      Pair& pair = c.pairs.emplace_back();
      pair.a = &c.cards[i];
      pair.b = &c.cards[k];
      pair.path = path_between(*pair.a, *pair.b);
      pair.route = route_of(c, pair);
      pair.peers = observed(c.facts, pair.a->name(), pair.b->name());
    }
  }
}

}  // namespace

std::string Card::label() const {
  std::string text = gpu->name;
  if (!gpu->model.empty()) text += " (" + gpu->model + ")";
  return text;
}

bool Card::is_small() const {
  return bar_bytes && need_bytes && *bar_bytes > 0 && *bar_bytes < *need_bytes;
}

bool Card::is_large() const { return bar_bytes && need_bytes && *bar_bytes >= *need_bytes; }

bool Pair::has(std::string_view rule) const {
  return std::ranges::find(rules, rule) != rules.end();
}

std::string Pair::name() const { return a->name() + "-" + b->name(); }

Case::Case(const host::HostFacts& all)
    : facts(all),
      topology(all),
      kernel(parse_kernel_name(all.kernel.release)),
      is_guest(doctor::is_guest(all)),
      patches_of_list(list_patches(all.kernel)) {
  const size_t num_cards = std::min(all.gpus.size(), kCardsMax);
  cards.reserve(num_cards);  // pairs point into it
  for (size_t i = 0; i < num_cards; ++i) cards.push_back(make_card(*this, all.gpus[i]));
  add_bridges(*this);
  for (const Card& card : cards) {
    if (card.root != nullptr) list_answers[card.root] = ask_allow_list(*card.root, all.kernel);
  }
  for (Card& card : cards) card.small_bar_cause = cause_of_small_bar(*this, card);
  add_pairs(*this);
}

std::optional<bool> Case::is_zen() const {
  const host::Machine& machine = facts.machine;
  if (machine.cpu_vendor.empty()) {
    const bool is_intel = std::ranges::any_of(facts.roots, [](const host::RootBus& root) {
      return root.first.id && maker_of_vendor(root.first.id->vendor) == Maker::intel;
    });
    return is_intel ? std::optional(false) : std::nullopt;
  }
  if (machine.cpu_vendor != "AuthenticAMD") return false;
  if (!machine.cpu_family) return {};
  // Kernels before the rule had entries for some of these CPUs: those are in the list.
  return *machine.cpu_family >= kZenFamily && (!kernel || kernel->release >= kZenRule);
}

bool Case::has_failed_check() const {
  const host::Observed& seen = facts.observed;
  return seen.data_check == "fail" || mentions(seen.stability, "all ones") ||
         mentions(seen.stability, "0xff");
}

bool Case::has_headroom_series() const {
  return std::ranges::any_of(facts.kernel.patches,
                             [](const std::string& patch) { return mentions(patch, "headroom"); });
}

bool Case::adds_windows_without_gaps() const {
  const bool is_cured = std::ranges::any_of(facts.kernel.patches, [](const std::string& patch) {
    return mentions(patch, "window sum") || mentions(patch, "bridge window size");
  });
  return kernel && kernel->adds_windows_without_gaps() && !is_cured;
}

bool Case::is_nvidia_patched() const {
  const json::Value& other = facts.observed.other;
  const auto driver = other.is_object() ? other.find("driver") : other.end();
  if (other.is_object() && driver != other.end() && driver->is_string() &&
      mentions(driver->get_ref<const std::string&>(), "patched")) {
    return true;
  }
  return std::ranges::any_of(facts.kernel.patches, [](const std::string& patch) {
    return mentions(patch, "nvidia") || mentions(patch, "open-gpu-kernel");
  });
}

bool Case::logs(std::string_view words) const {
  return std::ranges::any_of(facts.log,
                             [&](const std::string& line) { return mentions(line, words); });
}

bool Case::is_assumed(std::string_view path) const {
  return std::ranges::any_of(facts.placeholders,
                             [&](const std::string& text) { return mentions(text, path); });
}

std::string_view assumed_mark(const Case& c, std::string_view path) {
  return c.is_assumed(path) ? " (assumed: the report does not say)" : "";
}

}  // namespace evener::doctor
