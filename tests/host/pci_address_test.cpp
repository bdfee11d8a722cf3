#include "host/pci_address.h"

#include <gtest/gtest.h>

namespace evener::host {
namespace {

TEST(PciAddress, AFormWithoutADomainMeansDomainZero) {
  const auto address = parse_pci_address("a1:1f.7");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(*address, (PciAddress{.domain = 0, .bus = 0xa1, .device = 0x1f, .function = 7}));
  EXPECT_EQ(to_string(*address), "0000:a1:1f.7");
}

TEST(PciAddress, DomainsOfVolumeManagementControllersHaveMoreDigits) {
  const auto address = parse_pci_address("10000:e1:00.0");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->domain, 0x10000U);
  EXPECT_EQ(to_string(*address), "10000:e1:00.0");
  EXPECT_EQ(to_string(*parse_pci_address("00000000:01:00.0")), "0000:01:00.0");
}

TEST(PciAddress, WhatIsNoAddressIsRefused) {
  for (const char* text : {"", "00:00", "00:20.0", "00:00.8", "0:00.0", "000:00:00.0", "00:00.0 ",
                           " 00:00.0", "00:00.0:", "0000:00:00", "gg:00.0", "+1:00.0", "00:-1.0",
                           "123456789:00:00.0", "0000:0000:00:00.0", "leg1"}) {
    EXPECT_FALSE(parse_pci_address(text).has_value()) << text;
  }
}

TEST(PciAddress, IdsAreVendorAndDevice) {
  EXPECT_EQ(parse_pci_id("8086:6f00"), (PciId{.vendor = 0x8086, .device = 0x6f00}));
  EXPECT_EQ(to_string(PciId{.vendor = 0x10de, .device = 0x1e09}), "10de:1e09");
  for (const char* text : {"", "8086", "8086:6f0", "8086:6f000", "8086-6f00", "0x86:6f00"}) {
    EXPECT_FALSE(parse_pci_id(text).has_value()) << text;
  }
}

TEST(PciAddress, BusesHaveOneNameHoweverTheyAreWritten) {
  EXPECT_EQ(canonical_bus("A0"), "0000:a0");
  EXPECT_EQ(canonical_bus("0000:a0"), "0000:a0");
  EXPECT_EQ(canonical_bus("10000:e0"), "10000:e0");
  for (const char* text : {"", "a", "a0:", "0000:a0:00.0", "rootport-1", "0000:a00"}) {
    EXPECT_FALSE(canonical_bus(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace evener::host
