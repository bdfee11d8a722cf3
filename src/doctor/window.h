#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/topology.h"
#include "host/facts.h"

namespace evener::doctor {

struct Card;
struct Case;

// The room that a bridge's window for prefetchable memory has to have. Each thing in it starts at
// a multiple of its alignment, so n cards with a BAR of B and small BARs of s beside it take
//     need = (n - 1) * 2B + B + s
// and n * B where the small ones lie elsewhere. pci-p2p.md, 3.3.
struct Room {
  uint64_t size = 0;
  uint64_t alignment = 1;
  size_t num_cards = 0;
};

// Side by side, those with the largest alignment first, as the kernel lays them out.
Room side_by_side(std::vector<Room> children);

// How large each card's BAR is to be: as its driver wants it, or as it is.
enum class BarSizes { wanted, present };

// For what is below a port or on a root bus; empty: the size of a card's BAR is not known.
std::optional<Room> room_for(const Case& c, const std::vector<const host::Function*>& below,
                             BarSizes sizes);

// A port above at least one card.
struct Bridge {
  const host::Function* port = nullptr;
  std::vector<const Card*> cards;
  std::optional<Room> wanted;  // for the BARs as their drivers want them

  std::optional<uint64_t> window() const { return port->prefetchable.size_bytes; }
  bool is_short() const { return wanted && window() && *window() < wanted->size; }
};

// What lies in the window beside the card's VRAM BAR: doorbells and the like.
uint64_t small_bars(const Card& card);

// "2 cards of 32 GiB + 2 MiB each, side by side: 96 GiB + 2 MiB"
std::string room_text(const std::vector<const Card*>& cards, const Room& room);

}  // namespace evener::doctor
