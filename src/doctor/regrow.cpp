#include "doctor/regrow.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "doctor/bar_cause.h"
#include "doctor/case.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::Function;
using host::HostFacts;

constexpr uint64_t kSmallBar = 256 * kMiB;

// Changes that were worked out on a Case, which looks at the facts while they are unchanged.
class Plan {
 public:
  explicit Plan(HostFacts& facts) : facts_(facts) {}

  void resize_bar(const Card& card, uint64_t bytes) {
    if (card.function != nullptr) bars_.push_back({index_of(*card.function), index(card), bytes});
  }
  void resize_window(const Function& port, uint64_t bytes) {
    windows_.emplace_back(index_of(port), bytes);
  }

  void carry_out() {
    for (const BarSize& bar : bars_) set(facts_.functions[bar.function], bar);
    for (const auto& [port, bytes] : windows_) {
      facts_.functions[port].prefetchable.size_bytes = bytes;
      facts_.functions[port].prefetchable.base.reset();
    }
  }

 private:
  struct BarSize {
    size_t function = 0;
    unsigned index = 0;
    uint64_t bytes = 0;
  };

  static unsigned index(const Card& card) {
    if (card.bar != nullptr) return card.bar->index;
    return card.maker == Maker::nvidia ? 1 : 0;
  }
  size_t index_of(const Function& function) const {
    return static_cast<size_t>(&function - facts_.functions.data());
  }
  static void set(Function& function, const BarSize& size) {
    auto at = std::ranges::find(function.bars, size.index, &host::Bar::index);
    if (at == function.bars.end()) {
      host::Bar bar;
      bar.index = size.index;
      at = function.bars.insert(function.bars.begin(), bar);
    }
    at->size_bytes = size.bytes;
    at->base.reset();
  }

  HostFacts& facts_;
  std::vector<BarSize> bars_;
  std::vector<std::pair<size_t, uint64_t>> windows_;
};

bool host_has_room(const Card& card, uint64_t bytes) {
  if (card.root == nullptr || !card.root->memory_64.size_bytes) return true;
  return *card.root->memory_64.size_bytes >= bytes;
}

uint64_t sum_of_bars(const std::vector<const Card*>& cards) {
  uint64_t sum = 0;
  for (const Card* card : cards) sum += card->bar_wanted.value_or(0);
  return sum;
}

uint64_t wanted_on_root(const Case& c, const Card& card, Growth growth) {
  if (growth == Growth::all_demoted) {
    std::vector<const Card*> cards;
    for (const Card& other : c.cards) {
      if (other.root == card.root) cards.push_back(&other);
    }
    return sum_of_bars(cards);
  }
  const auto at = c.wanted.find(card.way.root);
  if (at == c.wanted.end() || !at->second) return card.bar_wanted.value_or(0);
  return at->second->size;
}

bool is_alone(const Case& c, const Card& card) {
  if (card.way.ports.empty() || card.way.root == nullptr) return false;
  return c.bridges.at(card.way.ports.back()).cards.size() == 1 && pin_of(c, card) == nullptr;
}

bool grows(const Case& c, const Card& card, Growth growth) {
  if (card.function == nullptr || !card.bar_wanted || card.is_large()) return false;
  if (growth == Growth::lone_cards && !is_alone(c, card)) return false;
  return host_has_room(card, wanted_on_root(c, card, growth));
}

void plan_windows(const Case& c, const Card& card, Growth growth, Plan& plan) {
  for (const Function* port : card.way.ports) {
    const Bridge& bridge = c.bridges.at(port);
    if (!bridge.wanted) continue;
    plan.resize_window(
        *port, growth == Growth::all_demoted ? sum_of_bars(bridge.cards) : bridge.wanted->size);
  }
}

uint64_t smallest_bar(const Card& card) {
  if (card.bar == nullptr || !card.bar->resizable || card.bar->resizable->empty()) return kSmallBar;
  return std::ranges::min(*card.bar->resizable);
}

host::Bar* vram_bar(HostFacts& facts, const Card& card) {
  if (card.bar == nullptr) return nullptr;
  const auto index = static_cast<size_t>(card.function - facts.functions.data());
  auto& bars = facts.functions[index].bars;
  return &bars[static_cast<size_t>(card.bar - bars.data())];
}

uint64_t align_up(uint64_t value, uint64_t size) {
  return size == 0 ? value : (value + size - 1) / size * size;
}

}  // namespace

void grow_bars(HostFacts& facts, Growth growth) {
  const Case c(facts);
  Plan plan(facts);
  for (const Card& card : c.cards) {
    if (!grows(c, card, growth)) continue;
    plan.resize_bar(card, *card.bar_wanted);
    plan_windows(c, card, growth, plan);
  }
  plan.carry_out();
}

void size_windows_for_present_bars(HostFacts& facts) {
  const Case c(facts);
  Plan plan(facts);
  for (const auto& [port, bridge] : c.bridges) {
    const auto room = room_for(c, c.topology.below(*port), BarSizes::present);
    if (room) plan.resize_window(*port, room->size);
    if (bridge.cards.size() < 2 || !c.adds_windows_without_gaps()) continue;
    for (size_t i = 1; i < bridge.cards.size(); ++i) plan.resize_bar(*bridge.cards[i], 0);
  }
  plan.carry_out();
}

void restore_lost_bars(HostFacts& facts) {
  const Case c(facts);
  Plan plan(facts);
  for (const Card& card : c.cards) {
    if (card.has_lost_bar()) plan.resize_bar(card, smallest_bar(card));
  }
  plan.carry_out();
}

void place_bars(HostFacts& facts) {
  const Case c(facts);
  std::unordered_map<const host::RootBus*, uint64_t> next;
  for (const Card& card : c.cards) {
    host::Bar* bar = card.function == nullptr ? nullptr : vram_bar(facts, card);
    if (bar == nullptr || !bar->size_bytes || *bar->size_bytes == 0) continue;
    if (card.root == nullptr || !card.root->memory_64.base) continue;
    auto [at, is_first] = next.try_emplace(card.root, *card.root->memory_64.base);
    at->second = align_up(at->second, *bar->size_bytes);
    bar->base = at->second;
    at->second += *bar->size_bytes;
  }
}

}  // namespace evener::doctor
