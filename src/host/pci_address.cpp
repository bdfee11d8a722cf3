#include "host/pci_address.h"

#include <fmt/format.h>

#include <charconv>

namespace evener::host {
namespace {

// Exactly `length` hexadecimal digits at the front of `text`, which they are taken from.
std::optional<uint32_t> take_hex(std::string_view& text, size_t length) {
  if (text.size() < length) return {};
  uint32_t value = 0;
  const char* end = text.data() + length;
  const auto read = std::from_chars(text.data(), end, value, 16);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  text.remove_prefix(length);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// The digits before the first of two colons: four, or up to eight behind a VMD controller.
std::optional<uint32_t> take_domain(std::string_view& text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  if (text.find(':', colon + 1) == std::string_view::npos) return 0;
  if (colon < 4 || colon > 8) return {};
  const auto domain = take_hex(text, colon);
  if (!domain || !take(text, ':')) return {};
  return domain;
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  const auto domain = take_domain(text);
  if (!domain) return {};
  const auto bus = take_hex(text, 2);
  if (!bus || !take(text, ':')) return {};
  const auto device = take_hex(text, 2);
  if (!device || !take(text, '.')) return {};
  const auto function = take_hex(text, 1);
  if (!function || !text.empty()) return {};
  if (*device >= 32 || *function >= 8) return {};
  return PciAddress{.domain = *domain,
                    .bus = static_cast<uint8_t>(*bus),
                    .device = static_cast<uint8_t>(*device),
                    .function = static_cast<uint8_t>(*function)};
}

std::string to_string(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                     address.function);
}

std::optional<std::string> canonical_bus(std::string_view text) {
  const size_t colon = text.find(':');
  uint32_t domain = 0;
  if (colon != std::string_view::npos) {
    if (colon < 4 || colon > 8) return {};
    const auto digits = take_hex(text, colon);
    if (!digits || !take(text, ':')) return {};
    domain = *digits;
  }
  const auto bus = take_hex(text, 2);
  if (!bus || !text.empty()) return {};
  return bus_name(domain, static_cast<uint8_t>(*bus));
}

std::string bus_name(uint32_t domain, uint8_t bus) {
  return fmt::format("{:04x}:{:02x}", domain, bus);
}

std::optional<PciId> parse_pci_id(std::string_view text) {
  const auto vendor = take_hex(text, 4);
  if (!vendor || !take(text, ':')) return {};
  const auto device = take_hex(text, 4);
  if (!device || !text.empty()) return {};
  return PciId{.vendor = static_cast<uint16_t>(*vendor), .device = static_cast<uint16_t>(*device)};
}

std::string to_string(PciId id) { return fmt::format("{:04x}:{:04x}", id.vendor, id.device); }

}  // namespace evener::host
