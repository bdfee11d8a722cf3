#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "host/facts.h"

// What a single text says of a machine's functions, before the texts are laid over each other.

namespace evener::host {

struct BusRange {
  uint8_t secondary = 0;
  uint8_t subordinate = 0;
};

// How much of a function's configuration space a capture holds: without root the first 64 bytes,
// with the old access method 256; ACS and Resizable BAR lie behind those.
enum class ConfigDepth { none, header, legacy, extended };

// What is known of a function as a graphics card.
struct Card {
  std::string model;
  std::string gfx;
  std::optional<uint64_t> vram_bytes;
  std::optional<uint64_t> visible_vram_bytes;
  std::optional<bool> in_kfd;
  std::optional<double> power_limit_watts;
};

struct Seen {
  Function function;  // its address and what else this text says
  Card card;
  std::optional<BusRange> below;  // the buses behind a bridge
  ConfigDepth depth = ConfigDepth::none;
  bool access_denied = false;      // lspci was not allowed to see capabilities
  bool is_gone = false;            // answers with ones alone: fell off the bus
  bool bars_are_complete = false;  // BARs that are not listed do not exist
  bool bars_are_guessed = false;   // lspci -v prints no numbers: counted from the first
};

using Sightings = std::map<PciAddress, Seen>;

// The entry of `address`, made if it is not there.
Seen& seen_at(Sightings& sightings, const PciAddress& address);

// The BAR with this number, made if it is not there; numbers stay in order.
Bar& bar_at(Function& function, unsigned index);

}  // namespace evener::host
