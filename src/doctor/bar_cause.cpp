#include "doctor/bar_cause.h"

#include <algorithm>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr uint64_t k4GiB = 4 * kGiB;

bool is_high(const Card& card) {
  return card.bar_base.value_or(0) >= k4GiB || card.bar_bytes.value_or(0) >= k4GiB;
}

// Known to have no window above 4 GiB: the host says so, or a BAR lies below while no other is
// above.
bool has_no_high_window(const Case& c, const Card& card) {
  if (card.root != nullptr && card.root->memory_64.size_bytes) {
    return *card.root->memory_64.size_bytes == 0;
  }
  const bool is_low = card.bar_base && *card.bar_base > 0 && *card.bar_base < k4GiB;
  return is_low && std::ranges::none_of(c.cards, is_high);
}

bool is_host_window_short(const Case& c, const Card& card) {
  const auto wanted = c.wanted.find(card.way.root);
  if (card.way.root == nullptr || wanted == c.wanted.end() || !wanted->second) return false;
  const auto window = card.way.root->memory_64.size_bytes;
  return window && *window > 0 && *window < wanted->second->size;
}

bool is_host_window_long_enough(const Case& c, const Card& card) {
  const auto wanted = c.wanted.find(card.way.root);
  if (card.way.root == nullptr || wanted == c.wanted.end() || !wanted->second) return false;
  return card.way.root->memory_64.size_bytes.value_or(0) >= wanted->second->size;
}

// A sibling below the same bridge has all it wants, and this card's BAR is gone.
bool was_left_without(const Case& c, const Card& card) {
  if (!card.has_lost_bar() || !c.adds_windows_without_gaps() || !logs_no_space(c)) return false;
  return std::ranges::any_of(card.way.ports, [&](const host::Function* port) {
    const auto& cards = c.bridges.at(port).cards;
    return std::ranges::any_of(cards, [](const Card* other) { return other->is_large(); });
  });
}

bool is_some_other_large(const Case& c, const Card& card) {
  return std::ranges::any_of(
      c.cards, [&](const Card& other) { return &other != &card && other.is_large(); });
}

bool is_own_function(const Card& card, const host::Function& other) {
  const auto& own = card.function->address;
  return own && other.address && own->domain == other.address->domain &&
         own->bus == other.address->bus && own->device == other.address->device;
}

bool shares_window(const host::Function& function) {
  return std::ranges::any_of(function.bars, [](const host::Bar& bar) {
    return bar.prefetchable.value_or(false) && bar.size_bytes.value_or(0) > 0;
  });
}

std::string_view cause_of_lost_bar(const Case& c, const Card& card) {
  return was_left_without(c, card) ? "R35" : "";
}

bool needs_room(const Case& c, const Card& card) {
  if (card.is_small()) return true;
  // Of a card whose VRAM nobody gave: a BAR of the usual 256 MiB and no room above 4 GiB.
  return !card.need_bytes && card.bar_bytes.value_or(0) <= 256 * kMiB &&
         has_no_high_window(c, card);
}

}  // namespace

bool needs_whole_bar(const Case& c, const Card& card) {
  if (c.is_guest) return false;
  if (card.maker == Maker::amd) return true;
  if (card.maker != Maker::nvidia) return false;
  return c.is_nvidia_patched() || mentions(card.gpu->model, "CMP ");
}

std::string_view cause_of_small_bar(const Case& c, const Card& card) {
  if (card.function == nullptr || !needs_whole_bar(c, card)) return {};
  if (card.has_lost_bar()) return cause_of_lost_bar(c, card);
  if (!needs_room(c, card)) return {};
  if (card.bar_bytes_max && card.need_bytes && *card.bar_bytes_max < *card.need_bytes) return "R31";
  if (has_no_high_window(c, card)) return "R32";
  if (is_host_window_short(c, card)) return is_some_other_large(c, card) ? "R37" : "R33";
  if (pinned_bridge(c, card) != nullptr) return "R34";
  if (pin_of(c, card) != nullptr) return "R36";
  if (is_some_other_large(c, card)) return "R37";
  return {};
}

const Bridge* pinned_bridge(const Case& c, const Card& card) {
  for (const host::Function* port : card.way.ports) {
    const Bridge& bridge = c.bridges.at(port);
    if (bridge.cards.size() >= 2 && bridge.is_short()) return &bridge;
  }
  if (!is_host_window_long_enough(c, card) || !logs_no_space(c)) return nullptr;
  for (const host::Function* port : card.way.ports) {
    const Bridge& bridge = c.bridges.at(port);
    if (bridge.cards.size() >= 2 && !bridge.window()) return &bridge;
  }
  return nullptr;
}

const host::Function* pin_of(const Case& c, const Card& card) {
  for (const host::Function* port : card.way.ports) {
    const Bridge& bridge = c.bridges.at(port);
    if (bridge.cards.size() >= 2) return nullptr;
    if (!bridge.is_short()) continue;
    if (shares_window(*port)) return port;
    for (const host::Function* other : c.topology.below(*port)) {
      const bool is_ours = other == card.function || is_own_function(card, *other);
      if (!is_ours && shares_window(*other)) return other;
    }
  }
  return nullptr;
}

bool logs_no_space(const Case& c) { return c.logs("no space") || c.logs("was not released"); }

}  // namespace evener::doctor
