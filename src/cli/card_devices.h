#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device/vulkan/adapter.h"
#include "host/facts.h"

namespace evener::cli {

// Where a card sits, as far as the machine says it.
struct CardSeat {
  std::string slot = {};  // the board's label
  std::optional<int> numa_node = {};
  std::optional<host::Link> link = {};  // of the slot, not one inside the card
};

// A graphics processor that Vulkan knows.
struct ListedCard {
  std::string name;  // "vulkan:0"
  device::vulkan::Adapter adapter;
  size_t usable_bytes = 0;  // of its memory, for a model; 0: none, or it cannot be used
  bool drives_display = false;
  CardSeat seat;
};

struct ListedCards {
  std::vector<ListedCard> cards;
  std::string why_none;  // in one line, with the remedy; empty: there are some
};
ListedCards list_cards();

// What the machine's facts say of the function at this address.
CardSeat seat_of(const host::HostFacts& facts, const std::string& pci_address);

void print_card(const ListedCard& card);
nlohmann::ordered_json json_of(const ListedCard& card);

// Those that can be used and are no software: cards, or without any what else there is.
std::vector<std::string> names_of_cards();

}  // namespace evener::cli
