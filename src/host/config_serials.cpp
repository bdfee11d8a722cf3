#include "host/config_serials.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>

#include "host/ascii.h"

namespace evener::host {
namespace {

constexpr size_t kConfigBytes = 4096;
constexpr size_t kNowhere = SIZE_MAX;

constexpr size_t kStatus = 0x06;
constexpr unsigned kHasCapabilities = 0x10;
constexpr size_t kFirstCapability = 0x34;
constexpr unsigned kVitalProductData = 0x03;
constexpr size_t kFirstExtended = 0x100;
constexpr unsigned kDeviceSerialNumber = 0x0003;

// The dump of one function: each byte by the place of its two digits.
class Dump {
 public:
  Dump() { clear(); }

  void clear() {
    places_.fill(kNowhere);
    empty_ = true;
  }
  bool empty() const { return empty_; }
  void put(size_t offset, size_t place) {
    if (offset < kConfigBytes) places_[offset] = place;
    empty_ = false;
  }

  // Little-endian; nothing if a byte of it is not in the dump.
  std::optional<unsigned> read(std::string_view text, size_t offset, size_t num_bytes) const {
    unsigned value = 0;
    for (size_t i = num_bytes; i-- > 0;) {
      if (offset + i >= kConfigBytes || places_[offset + i] == kNowhere) return std::nullopt;
      const size_t place = places_[offset + i];
      value = value << 8 | static_cast<unsigned>(hex_value(text[place]) << 4) |
              static_cast<unsigned>(hex_value(text[place + 1]));
    }
    return value;
  }

  void take(std::string_view text, size_t offset, size_t num_bytes,
            std::vector<size_t>& positions) const {
    for (size_t i = offset; i < std::min(offset + num_bytes, kConfigBytes); ++i) {
      if (places_[i] != kNowhere && text.substr(places_[i], 2) != "00")
        positions.push_back(places_[i]);
    }
  }

 private:
  std::array<size_t, kConfigBytes> places_{};
  bool empty_ = true;
};

void walk_capabilities(const Dump& dump, std::string_view text, std::vector<size_t>& positions) {
  if ((dump.read(text, kStatus, 2).value_or(0) & kHasCapabilities) == 0) return;
  std::bitset<256> seen;
  size_t at = dump.read(text, kFirstCapability, 1).value_or(0) & 0xfcU;
  while (at >= 0x40 && !seen[at]) {
    seen.set(at);
    const auto head = dump.read(text, at, 2);
    if (!head) return;
    if ((*head & 0xff) == kVitalProductData) dump.take(text, at + 4, 4, positions);
    at = *head >> 8 & 0xfc;
  }
}

// Follows links backwards too, as long as they lead somewhere new: a serial number is not to hide.
void walk_extended(const Dump& dump, std::string_view text, std::vector<size_t>& positions) {
  std::bitset<kConfigBytes> seen;
  size_t at = kFirstExtended;
  while (at >= kFirstExtended && !seen[at]) {
    seen.set(at);
    const auto head = dump.read(text, at, 4);
    if (!head || *head == 0 || *head == 0xffffffff) return;
    if ((*head & 0xffff) == kDeviceSerialNumber) dump.take(text, at + 4, 8, positions);
    at = *head >> 20 & 0xffc;
  }
}

void finish(Dump& dump, std::string_view text, ConfigSerials& found) {
  if (dump.empty()) return;
  const size_t before = found.positions.size();
  walk_capabilities(dump, text, found.positions);
  walk_extended(dump, text, found.positions);
  if (found.positions.size() > before) ++found.num_functions;
  dump.clear();
}

// "1a0: 0b 00 ..." puts its bytes into the dump; false if the line [begin, end) is none.
bool take_line(std::string_view text, size_t begin, size_t end, Dump& dump) {
  while (begin < end && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  size_t offset = 0;
  size_t at = begin;
  for (; at < end && is_hex_digit(text[at]) && at - begin < 4; ++at)
    offset = offset * 16 + static_cast<size_t>(hex_value(text[at]));
  if (at - begin < 2 || at + 1 >= end || text[at] != ':' || text[at + 1] != ' ') return false;
  ++at;
  size_t num_bytes = 0;
  while (at + 2 < end && num_bytes < 16 && text[at] == ' ' && is_hex_digit(text[at + 1]) &&
         is_hex_digit(text[at + 2]) && (at + 3 == end || !is_alnum(text[at + 3]))) {
    dump.put(offset + num_bytes++, at + 1);
    at += 3;
  }
  return num_bytes > 0;
}

bool begins_a_dump(std::string_view text, size_t begin, size_t end) {
  const std::string_view line = text.substr(begin, end - begin);
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line.substr(first).starts_with("00: ");
}

}  // namespace

ConfigSerials find_config_serials(std::string_view lspci) {
  ConfigSerials found;
  Dump dump;
  for (size_t begin = 0; begin < lspci.size();) {
    const size_t end = std::min(lspci.find('\n', begin), lspci.size());
    if (begins_a_dump(lspci, begin, end)) finish(dump, lspci, found);
    if (!take_line(lspci, begin, end, dump)) finish(dump, lspci, found);
    begin = end + 1;
  }
  finish(dump, lspci, found);
  return found;
}

}  // namespace evener::host
