#include "doctor/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "doctor/case.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::Bar;
using host::Function;

constexpr size_t kDepthMax = 32;        // of bridges; trees from outside may have cycles
constexpr uint64_t kWindowStep = kMiB;  // bridge windows come in these
constexpr uint64_t kSumMax = uint64_t{1} << 60;
constexpr uint64_t kAmdDoorbells = 2 * kMiB;     // BAR 2
constexpr uint64_t kNvidiaSmallBar = 32 * kMiB;  // BAR 3

uint64_t align_up(uint64_t value, uint64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

// Large BARs of 64 bits of anything: they share the window.
std::vector<Room> bars_of(const Function& function) {
  std::vector<Room> rooms;
  for (const Bar& bar : function.bars) {
    const uint64_t size = bar.size_bytes.value_or(0);
    const bool shares = bar.prefetchable.value_or(false) && bar.is_64_bit.value_or(true);
    if (shares && size > 0) rooms.push_back({size, size, 0});
  }
  return rooms;
}

// Empty: how large its BAR is to be is not known.
std::optional<Room> room_of_card(const Card& card, BarSizes sizes) {
  const auto bar = sizes == BarSizes::wanted ? card.bar_wanted : card.bar_bytes;
  if (!bar || *bar == 0) return {};
  return Room{*bar + small_bars(card), *bar, 1};
}

class Measuring {
 public:
  Measuring(const Case& c, BarSizes sizes) : c_(c), sizes_(sizes) {}

  std::optional<Room> below(const std::vector<const Function*>& functions, size_t depth) {
    std::vector<Room> rooms;
    for (const Function* function : functions) {
      if (!add(*function, depth, rooms)) return {};
    }
    return side_by_side(std::move(rooms));
  }

 private:
  bool add(const Function& function, size_t depth, std::vector<Room>& rooms) {
    if (const auto at = c_.card_of.find(&function); at != c_.card_of.end()) {
      const auto room = room_of_card(*at->second, sizes_);
      if (room) rooms.push_back(*room);
      return room.has_value();
    }
    for (const Room& room : bars_of(function)) rooms.push_back(room);
    if (!function.is_bridge || depth >= kDepthMax) return true;
    const auto room = below(c_.topology.below(function), depth + 1);
    if (!room) return false;
    if (room->size > 0) {
      rooms.push_back({align_up(room->size, kWindowStep), room->alignment, room->num_cards});
    }
    return true;
  }

  const Case& c_;
  BarSizes sizes_;
};

}  // namespace

Room side_by_side(std::vector<Room> children) {
  std::ranges::sort(children, [](const Room& a, const Room& b) {
    return a.alignment != b.alignment ? a.alignment > b.alignment : a.size > b.size;
  });
  Room sum;
  for (const Room& child : children) {
    sum.alignment = std::max(sum.alignment, child.alignment);
    sum.num_cards += child.num_cards;
    if (sum.size > kSumMax || child.size > kSumMax) continue;  // sizes of no machine
    sum.size = align_up(sum.size, child.alignment) + child.size;
  }
  return sum;
}

std::optional<Room> room_for(const Case& c, const std::vector<const Function*>& below,
                             BarSizes sizes) {
  return Measuring(c, sizes).below(below, 0);
}

uint64_t small_bars(const Card& card) {
  uint64_t known = 0;
  for (const Bar& bar : card.function->bars) {
    const bool shares = &bar != card.bar && bar.prefetchable.value_or(false);
    if (shares) known += std::min(bar.size_bytes.value_or(0), kGiB);
  }
  if (known > 0) return known;
  return card.maker == Maker::nvidia ? kNvidiaSmallBar : kAmdDoorbells;
}

std::string room_text(const std::vector<const Card*>& cards, const Room& room) {
  std::vector<std::string> sizes;
  for (const Card* card : cards) {
    if (!card->bar_wanted) continue;
    sizes.push_back(size_text(*card->bar_wanted) + " + " + size_text(small_bars(*card)));
  }
  const bool alike = std::ranges::adjacent_find(sizes, std::not_equal_to<>()) == sizes.end();
  const std::string each = alike && !sizes.empty() ? sizes.front() + " each" : list_text(sizes);
  return fmt::format("{} card{} of {}, side by side and aligned: {}", room.num_cards,
                     room.num_cards == 1 ? "" : "s", each, window_text(room.size));
}

}  // namespace evener::doctor
