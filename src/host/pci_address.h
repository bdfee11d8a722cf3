#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evener::host {

// Where a PCI function sits: "0000:05:00.0". A form without a domain means domain 0.
struct PciAddress {
  uint32_t domain = 0;
  uint8_t bus = 0;
  uint8_t device = 0;    // < 32
  uint8_t function = 0;  // < 8

  auto operator<=>(const PciAddress&) const = default;
};

// "[dddd:]bb:dd.f" in hexadecimal, nothing before or after it.
std::optional<PciAddress> parse_pci_address(std::string_view text);
std::string to_string(const PciAddress& address);  // always with the domain

// The name of a bus as RootBus has it, "0000:a0"; canonical_bus also takes "a0" and capitals.
std::string bus_name(uint32_t domain, uint8_t bus);
std::optional<std::string> canonical_bus(std::string_view text);

// Vendor and device as lspci -n prints them: "8086:6f00".
struct PciId {
  uint16_t vendor = 0;
  uint16_t device = 0;

  auto operator<=>(const PciId&) const = default;
};

std::optional<PciId> parse_pci_id(std::string_view text);
std::string to_string(PciId id);

}  // namespace evener::host
