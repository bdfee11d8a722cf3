// Goal: words choose one adapter or say why not. Method: made-up adapters; whole messages.
#include "device/vulkan/adapter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace evener::device::vulkan {
namespace {

Adapter adapter(size_t index, std::string name, std::string pci_address) {
  Adapter made;
  made.index = index;
  made.name = std::move(name);
  made.pci_address = std::move(pci_address);
  return made;
}

// A card, two equal ones, one behind a second PCI domain, and software.
const std::vector<Adapter> kAdapters = {
    adapter(0, "AMD Radeon RX 7900 XTX (RADV NAVI31)", "0000:03:00.0"),
    adapter(1, "NVIDIA L4", "0000:41:00.0"), adapter(2, "NVIDIA L4", "0000:c1:00.0"),
    adapter(3, "Intel(R) Arc(tm) A770 Graphics (DG2)", "0001:03:00.0"),
    adapter(4, "llvmpipe (LLVM 15.0.6, 256 bits)", "")};

const std::string kList =
    "\n  adapters of this machine: 0 is AMD Radeon RX 7900 XTX (RADV NAVI31) at 0000:03:00.0, "
    "1 is NVIDIA L4 at 0000:41:00.0, 2 is NVIDIA L4 at 0000:c1:00.0, "
    "3 is Intel(R) Arc(tm) A770 Graphics (DG2) at 0001:03:00.0, "
    "4 is llvmpipe (LLVM 15.0.6, 256 bits)";
const std::string kNone = "no adapter has this number, PCI address or name";

void expect_found(std::string_view words, size_t index) {
  const auto found = find_adapter(kAdapters, words);
  ASSERT_TRUE(found.has_value()) << words << ": " << to_string(found.error());
  EXPECT_EQ(*found, index) << words;
}

std::string why_not(std::string_view words) {
  const auto found = find_adapter(kAdapters, words);
  if (found.has_value()) return "found " + std::to_string(*found);
  EXPECT_EQ(found.error().code, Code::invalid_argument) << words;
  return to_string(found.error());
}

TEST(FindAdapter, ByItsNumber) {
  for (size_t i = 0; i < kAdapters.size(); ++i) expect_found(std::to_string(i), i);
  expect_found("003", 3);
}

TEST(FindAdapter, ByItsPciAddressShortOrLong) {
  expect_found("0000:03:00.0", 0);
  expect_found("03:00.0", 0);
  expect_found("c1:00.0", 2);
  expect_found("0001:03:00.0", 3);
}

TEST(FindAdapter, ByPartOfItsNameInAnyCase) {
  expect_found("7900 xtx", 0);
  expect_found("radv", 0);
  expect_found("ARC(TM)", 3);
  expect_found("LLVMpipe", 4);
  expect_found("llvmpipe (LLVM 15.0.6, 256 bits)", 4);
}

TEST(FindAdapter, ANumberThatNoneHasSaysHowManyThereAre) {
  EXPECT_EQ(why_not("5"), "cannot open device: 'vulkan:5': there are 5 adapters" + kList);
  EXPECT_EQ(to_string(find_adapter({adapter(0, "NVIDIA L4", "")}, "1").error()),
            "cannot open device: 'vulkan:1': there is 1 adapter\n"
            "  adapters of this machine: 0 is NVIDIA L4");
}

TEST(FindAdapter, WhatTwoEqualCardsAreCalledDoesNotChooseOne) {
  EXPECT_EQ(why_not("nvidia l4"),
            "cannot open device: 'vulkan:nvidia l4': it may be any of 1, 2" + kList);
  EXPECT_EQ(why_not("A"), "cannot open device: 'vulkan:A': it may be any of 0, 1, 2, 3" + kList);
}

TEST(FindAdapter, WhatNoneIsCalledFindsNone) {
  for (const std::string words : {"GeForce", "-1", "1x", "1 ", "0x1", "03:00", "0000:03:00.1",
                                  "0002:03:00.0", "xtx 7900", "99999999999999999999999999"}) {
    EXPECT_EQ(why_not(words), "cannot open device: 'vulkan:" + words + "': " + kNone + kList);
  }
}

TEST(FindAdapter, NoWordsFindNone) {
  EXPECT_EQ(why_not(""), "cannot open device: 'vulkan:': " + kNone + kList);
}

// A short address is one of the first domain, and none at all is not that of software.
TEST(FindAdapter, AnAddressIsNeverPartOfAnother) {
  EXPECT_EQ(why_not("1:00.0"), "cannot open device: 'vulkan:1:00.0': " + kNone + kList);
  EXPECT_EQ(why_not("0000:"), "cannot open device: 'vulkan:0000:': " + kNone + kList);
}

TEST(FindAdapter, HostileBytesAreShownHarmlesslyAndCutShort) {
  using namespace std::string_view_literals;
  EXPECT_EQ(why_not("a\n\x1b[31m\0\xff"sv),
            "cannot open device: 'vulkan:a\\n\\x1b[31m\\x00\\xff': " + kNone + kList);
  EXPECT_EQ(why_not(std::string(10'000, 'x')),
            "cannot open device: 'vulkan:" + std::string(60, 'x') + "...': " + kNone + kList);
}

}  // namespace
}  // namespace evener::device::vulkan
