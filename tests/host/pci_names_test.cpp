#include "host/pci_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::host {
namespace {

using testing::EndsWith;

// Whether this machine has a list of names or not.
TEST(PciNames, EveryNameHasItsNumberBehindIt) {
  const PciNames names;
  EXPECT_THAT(names.of_class(0x0300), EndsWith("[0300]"));
  EXPECT_THAT(names.of_device({.vendor = 0x1002, .device = 0x744c}), EndsWith("[1002:744c]"));
}

// The way through libpci that looks further, and once called a function that was not there.
TEST(PciNames, ADeviceThatNobodyHasNamedIsANumber) {
  const PciNames names;
  EXPECT_EQ(names.of_device({.vendor = 0xfff1, .device = 0xfff2}), "Device [fff1:fff2]");
  EXPECT_EQ(names.of_class(0xee77), "Class [ee77]");
}

}  // namespace
}  // namespace evener::host
