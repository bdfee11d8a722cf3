// Snapshots that somebody made to hurt: very many devices, circles, absurd numbers. A reader that
// is quadratic would make these tests run for minutes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/facts_json.h"
#include "host_data.h"

namespace evener::host {
namespace {

using testing::HasSubstr;

PciAddress nth(unsigned n) {
  return {.domain = n >> 16,
          .bus = static_cast<uint8_t>(n >> 8 & 0xff),
          .device = static_cast<uint8_t>(n >> 3 & 0x1f),
          .function = static_cast<uint8_t>(n & 7)};
}

Snapshot with(std::string name, std::string text) {
  Snapshot snapshot{.files = {}, .origin = "hostile"};
  snapshot.files[std::move(name)] = std::move(text);
  return snapshot;
}

TEST(Hostile, TenThousandCardsOnOneBus) {
  std::string sysfs;
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::string at = to_string(nth(i));
    sysfs += fmt::format(
        "{0}/vendor\t0x1002\n{0}/device\t0x744c\n{0}/class\t0x030000\n"
        "{0}/path\tpci0000:00/{0}\n",
        at);
  }
  const HostFacts facts = facts_in(with("sysfs.tsv", sysfs));
  EXPECT_EQ(facts.functions.size(), 10'000U);
  EXPECT_EQ(facts.gpus.size(), 10'000U);
  EXPECT_LE(facts.missing.size(), 200U);
  EXPECT_EQ(facts_in(with("sysfs.tsv", sysfs)).gpus.back().name, facts.gpus.back().name);
  const auto again = facts_from_json(facts_to_json(facts), "again");
  ASSERT_TRUE(again.has_value()) << to_string(again.error());
  EXPECT_EQ(again->gpus.size(), 10'000U);
}

TEST(Hostile, TenThousandBridgesThatAllClaimAllBuses) {
  std::string lspci;
  for (unsigned i = 0; i < 10'000; ++i) {
    lspci += fmt::format("{} PCI bridge: X\n\tBus: primary=00, secondary={:02x}, subordinate=ff\n",
                         to_string(nth(i)), i & 0xff);
  }
  const HostFacts facts = facts_in(with("lspci.txt", lspci));
  EXPECT_EQ(facts.functions.size(), 10'000U);
  for (const Function& function : facts.functions) {
    EXPECT_LE(ancestors(facts, function.name).ports.size(), 256U);
  }
}

TEST(Hostile, PathsThatGoInCircles) {
  const HostFacts facts = facts_in(with(
      "sysfs.tsv",
      "0000:01:00.0/vendor\t0x1002\n0000:01:00.0/device\t0x744c\n0000:01:00.0/class\t0x030000\n"
      "0000:01:00.0/path\tpci0000:00/0000:02:00.0/0000:01:00.0\n"
      "0000:02:00.0/path\tpci0000:00/0000:01:00.0/0000:02:00.0\n"
      "0000:03:00.0/path\tpci0000:00/0000:03:00.0/0000:03:00.0\n"));
  EXPECT_EQ(ancestors(facts, "0000:01:00.0").ports.size(), 1U);
  EXPECT_EQ(ancestors(facts, "0000:01:00.0").root, nullptr);
  EXPECT_TRUE(ancestors(facts, "0000:03:00.0").ports.empty());
}

TEST(Hostile, BridgesBehindEachOther) {
  const HostFacts facts = facts_in(with("lspci.txt",
                                        "01:00.0 PCI bridge: X\n\tBus: primary=02, secondary=02, "
                                        "subordinate=02\n02:00.0 PCI bridge: X\n\tBus: primary=01, "
                                        "secondary=01, subordinate=01\n"));
  EXPECT_EQ(ancestors(facts, "0000:02:00.0").ports.size(), 1U);
  EXPECT_TRUE(ancestors(facts, "0000:01:00.0").ports.empty());  // buses go upwards
}

TEST(Hostile, MoreFunctionsThanADomainHasAreRefused) {
  std::string lspci;
  for (unsigned i = 0; i < 65'537; ++i) lspci += to_string(nth(i)) + " X: Y\n";
  const auto facts = facts_of(with("lspci.txt", lspci));
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, Code::limit_exceeded);
  EXPECT_THAT(to_string(facts.error()), HasSubstr("lists 65537 PCI functions, at most 65536"));
}

TEST(Hostile, ThousandsOfRootBusesAndTenThousandDevices) {
  std::string sysfs;
  for (unsigned i = 0; i < 10'000; ++i) {
    sysfs += fmt::format(
        "{0:08x}:00:00.0/vendor\t0x10de\n{0:08x}:00:00.0/device\t0x2204\n"
        "{0:08x}:00:00.0/class\t0x030000\n"
        "{0:08x}:00:00.0/path\tpci{0:08x}:00/{0:08x}:00:00.0\n",
        i);
  }
  const HostFacts facts = facts_in(with("sysfs.tsv", sysfs));
  EXPECT_EQ(facts.roots.size(), 10'000U);
  EXPECT_EQ(facts.gpus.size(), 10'000U);
}

TEST(Hostile, AbsurdSizesStayUnknown) {
  const HostFacts facts = facts_in(
      with("lspci.txt",
           "01:00.0 VGA compatible controller: NVIDIA Corporation X\n"
           "\tRegion 0: Memory at ffffffffffffffff (64-bit, prefetchable) [size=99999999999999T]\n"
           "\tRegion 1: Memory at fffffffffffffffff0 (64-bit) [size=-1]\n"
           "\tRegion 99999999999: Memory at 1000 [size=4K]\n"
           "\tBAR 77: current size: 1GB, supported: 1GB\n"
           "\tBAR 2: current size: 18446744073709551615GB, supported: 9999999999999GB xGB\n"
           "\tLnkSta: Speed 1e999GT/s, Width x99999999999\n"
           "\tNUMA node: 99999999999\n\tIOMMU group: 99999999999\n"));
  const Function& function = function_at(facts, "0000:01:00.0");
  for (const Bar& bar : function.bars) {
    EXPECT_FALSE(bar.base.has_value());
    EXPECT_FALSE(bar.size_bytes.has_value());
  }
  EXPECT_FALSE(function.link->now_width.has_value());
  EXPECT_FALSE(function.link->now_gts.has_value());
  EXPECT_FALSE(function.numa_node.has_value());
  EXPECT_FALSE(function.iommu_group.has_value());
}

TEST(Hostile, LinesWithoutAnEndAreRead) {
  std::string line(4 << 20, '-');
  line.insert(0, "-[0000:00]-");
  (void)facts_of(with("lspci-tree.txt", line));
  (void)facts_of(with("lspci.txt", "00:00.0 X: " + std::string(4 << 20, '[')));
  (void)facts_of(with("dmesg.txt", "pci 0000:00:00.0: " + std::string(4 << 20, ' ')));
  (void)facts_of(with("tools/x.txt", "GPU0 GPU1 " + std::string(4 << 20, 'X')));
  const auto facts = facts_of(with("cmdline.txt", std::string(1 << 20, 'a')));
  ASSERT_TRUE(facts.has_value());
  EXPECT_LE(facts->kernel.command_line->size(), 500U);
}

}  // namespace
}  // namespace evener::host
