#include "host/lspci_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::host {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

Seen text_at(std::string_view text, std::string_view address) {
  const Lspci lspci = read_lspci(text);
  const auto at = lspci.text.find(*parse_pci_address(address));
  EXPECT_NE(at, lspci.text.end()) << address;
  return at == lspci.text.end() ? Seen{} : at->second;
}

constexpr std::string_view kPort =
    R"(00:03.0 PCI bridge [0604]: Intel Corporation Xeon E7 v4/Xeon E5 v4 [8086:6f08] (rev 01) (prog-if 00 [Normal decode])
	Physical Slot: 4
	Bus: primary=00, secondary=05, subordinate=07, sec-latency=0
	I/O behind bridge: 0000e000-0000efff [size=4K] [32-bit]
	Memory behind bridge: fb000000-fb0fffff [size=1M] [32-bit]
	Prefetchable memory behind bridge: 0000380400000000-000038060fffffff [size=8448M] [64-bit]
	Capabilities: [90] Express (v2) Root Port (Slot+), MSI 00
		LnkCap:	Port #5, Speed 8GT/s, Width x16, ASPM L1, Exit Latency L1 <16us
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16 (ok)
		DevCap2: Completion Timeout: Range BCD, TimeoutDis+ NROPrPrP- LTR-
			 AtomicOpsCap: Routing+ 32bit+ 64bit+ 128bitCAS+
		LnkCap2: Supported Link Speeds: 2.5-8GT/s, Crosslink- Retimer- 2Retimers- DRS-
	Capabilities: [110 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
	Kernel driver in use: pcieport
)";

TEST(LspciText, APortIsReadWhole) {
  const Seen seen = text_at(kPort, "00:03.0");
  const Function& port = seen.function;
  EXPECT_EQ(port.id, (PciId{0x8086, 0x6f08}));
  EXPECT_EQ(port.class_code, 0x060400U);
  EXPECT_EQ(port.description, "Intel Corporation Xeon E7 v4/Xeon E5 v4");
  EXPECT_EQ(port.slot, "4");
  EXPECT_TRUE(port.is_bridge);
  EXPECT_EQ(seen.below->secondary, 5);
  EXPECT_EQ(seen.below->subordinate, 7);
  EXPECT_EQ(port.prefetchable.base, 0x380400000000U);
  EXPECT_EQ(port.prefetchable.size_bytes, 8448 * kMiB);
  EXPECT_EQ(port.memory.size_bytes, kMiB);
  EXPECT_EQ(port.port, PortKind::root);
  EXPECT_EQ(port.link->max_gts, 8);
  EXPECT_EQ(port.link->now_gts, 2.5);
  EXPECT_EQ(port.link->now_width, 16U);
  EXPECT_EQ(port.atomics->routing, true);
  EXPECT_EQ(port.acs->control, 0x1d);
  EXPECT_EQ(port.driver, "pcieport");
}

// What lspci prints where a window is off, in versions from 3.1 to 3.13.
TEST(LspciText, WindowsThatAreOffAreKnownToBeOff) {
  for (const char* text :
       {"00000000fff00000-00000000000fffff [disabled] [64-bit]", "fff00000-000fffff", "None",
        "[disabled]", "[disabled] [64-bit]", "00000000-000fffff [size=1M] [32-bit]"}) {
    const std::string lines = "00:03.0 PCI bridge: Intel\n\tPrefetchable memory behind bridge: ";
    const Seen seen = text_at(lines + text + "\n", "00:03.0");
    EXPECT_EQ(seen.function.prefetchable.size_bytes, 0U) << text;
  }
  const Seen old = text_at(
      "00:03.0 PCI bridge: Intel\n\tPrefetchable memory behind bridge: "
      "0000380000000000-000038000fffffff\n",
      "00:03.0");
  EXPECT_EQ(old.function.prefetchable.size_bytes, 256 * kMiB);
}

TEST(LspciText, RegionsKeepTheirNumbersAndPlaces) {
  const Seen seen = text_at(
      "07:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Vega 10 [Radeon "
      "PRO WX 8100] (prog-if 00 [VGA controller])\n"
      "\tRegion 0: Memory at 380400000000 (64-bit, prefetchable) [size=8G]\n"
      "\tRegion 2: Memory at 380300000000 (64-bit, prefetchable) [size=2M]\n"
      "\tRegion 4: I/O ports at e000 [size=256]\n"
      "\tRegion 5: Memory at fb800000 (32-bit, non-prefetchable) [disabled] [size=512K]\n"
      "\tExpansion ROM at fb840000 [disabled] [size=128K]\n",
      "07:00.0");
  ASSERT_EQ(seen.function.bars.size(), 3U);
  EXPECT_EQ(seen.function.bars[0].size_bytes, 8 * kGiB);
  EXPECT_EQ(seen.function.bars[1].index, 2U);
  EXPECT_EQ(seen.function.bars[2].index, 5U);
  EXPECT_EQ(seen.function.bars[2].prefetchable, false);
  EXPECT_FALSE(seen.bars_are_guessed);
  EXPECT_EQ(seen.function.description,
            "Advanced Micro Devices, Inc. [AMD/ATI] Vega 10 [Radeon PRO WX 8100]");
}

TEST(LspciText, ARegionThatFoundNoPlaceIsLost) {
  const Seen seen = text_at(
      "0e:00.0 Display controller [0380]: AMD [1002:66a3]\n"
      "\tRegion 0: Memory at <unassigned> (64-bit, prefetchable)\n"
      "\tRegion 2: Memory at <ignored> (64-bit, prefetchable) [size=2M]\n"
      "\tRegion 5: Memory at 90000000 (32-bit, non-prefetchable) [virtual] [size=512K]\n",
      "0e:00.0");
  ASSERT_EQ(seen.function.bars.size(), 3U);
  EXPECT_EQ(seen.function.bars[0].size_bytes, 0U);
  EXPECT_EQ(seen.function.bars[1].size_bytes, 0U);
  EXPECT_FALSE(seen.function.bars[2].base.has_value());
}

TEST(LspciText, ResizableBarsAreReadAndThoseOfVirtualFunctionsAreNot) {
  const Seen seen = text_at(
      "19:00.0 3D controller: NVIDIA Corporation [10de:1e09]\n"
      "\tCapabilities: [bb0 v1] Physical Resizable BAR\n"
      "\t\tBAR 1: current size: 64MB, supported: 64MB 128MB 16GB\n"
      "\tCapabilities: [c00 v1] Virtual Resizable BAR\n"
      "\t\tBAR 1: current size: 1GB, supported: 1GB\n",
      "19:00.0");
  ASSERT_EQ(seen.function.bars.size(), 1U);
  EXPECT_EQ(seen.function.bars[0].size_bytes, 64 * kMiB);
  EXPECT_THAT(*seen.function.bars[0].resizable, ElementsAre(64 * kMiB, 128 * kMiB, 16 * kGiB));
  EXPECT_EQ(seen.function.id, (PciId{0x10de, 0x1e09}));
}

TEST(LspciText, AcsThatIsNotListedIsAbsentOnlyWhereListsWereReadable) {
  const std::string head = "00:01.0 PCI bridge: Intel Corporation Device 1901\n";
  const Seen full = text_at(head + "\tCapabilities: [100 v1] Virtual Channel\n", "00:01.0");
  ASSERT_TRUE(full.function.acs.has_value());
  EXPECT_FALSE(full.function.acs->present);
  const Seen denied = text_at(head + "\tCapabilities: <access denied>\n", "00:01.0");
  EXPECT_TRUE(denied.access_denied);
  EXPECT_FALSE(denied.function.acs.has_value());
  EXPECT_FALSE(text_at(head, "00:01.0").function.acs.has_value());
}

TEST(LspciText, NumbersAloneAreReadToo) {
  const Seen seen =
      text_at("00:00.0 0600: 8086:6f00 (rev 01)\n\tSubsystem: 1028:0619\n", "00:00.0");
  EXPECT_EQ(seen.function.id, (PciId{0x8086, 0x6f00}));
  EXPECT_EQ(seen.function.class_code, 0x060000U);
  EXPECT_EQ(seen.function.subsystem, (PciId{0x1028, 0x0619}));
  EXPECT_TRUE(seen.function.description.empty());
}

TEST(LspciText, ASecondListAddsToTheFirst) {
  const Seen seen =
      text_at(std::string(kPort) + "00:03.0 PCI bridge: Intel Corporation Xeon E7 v4/Xeon E5 v4\n",
              "00:03.0");
  EXPECT_EQ(seen.function.id, (PciId{0x8086, 0x6f08}));
  EXPECT_EQ(seen.function.acs->control, 0x1d);
}

TEST(LspciText, LogLinesAndProseAreNoDevices) {
  for (const char* line : {"pci 0000:00:03.0: BAR 0: assigned", "0000:00:03.0: something: else",
                           "[    1.0] 00:03.0 x: y", "at 00:03.0 there is: a card",
                           "00: 86 80 00 6f", "00:03.0", "00:03.0 no colon"}) {
    EXPECT_FALSE(lspci_header(line).has_value()) << line;
  }
  EXPECT_TRUE(lspci_header("10000:e1:00.0 Non-Volatile memory controller: X").has_value());
}

TEST(LspciText, ADumpThatStopsInsideIsCut) {
  const std::string head = "00:00.0 Host bridge: Intel\n";
  const std::string row = "00: 86 80 00 6f 00 00 00 00 00 00 00 06 00 00 00 00\n";
  EXPECT_TRUE(read_lspci(head + row).is_cut);
  EXPECT_TRUE(read_lspci(head + "00: 86 80 00\n").is_cut);
  EXPECT_FALSE(read_lspci(head).is_cut);
  std::string header = head + row;
  for (const char* offset : {"10", "20", "30"}) header += offset + row.substr(2);
  const Lspci whole = read_lspci(header);
  EXPECT_FALSE(whole.is_cut);
  ASSERT_EQ(whole.config.size(), 1U);
  EXPECT_EQ(whole.config.begin()->second.depth, ConfigDepth::header);
}

TEST(LspciText, RowsOfADumpThatAreOutOfPlaceAreLeftOut) {
  std::string text = "00:00.0 Host bridge: Intel\n";
  text += "40: 86 80 00 6f 00 00 00 00 00 00 00 06 00 00 00 00\n";
  text += "00: zz 80 00 6f\n10: 1 2 3\n";
  EXPECT_TRUE(read_lspci(text).config.empty());
}

// The tree of a machine with two root buses, one with a switch.
constexpr std::string_view kTree =
    R"(-+-[0000:a0]-+-00.0-[a9]--
 |           \-02.0-[a1-a5]----00.0-[a2-a5]--+-08.0-[a3]----00.0  AMD Navi 31 [Radeon RX 7900 XTX]
 |                                           \-10.0-[a5]--+-00.0  AMD Navi 31 [Radeon RX 7900 XTX]
 |                                                        \-00.1  AMD Navi 31 HDMI
 \-[0000:00]-+-00.0  Intel Corporation Xeon DMI2
             +-03.0-[05]----00.0  NVIDIA Corporation GA102
             \-1f.0  Intel Corporation LPC
)";

std::string parent_in(const Sightings& tree, std::string_view address) {
  const auto at = tree.find(*parse_pci_address(address));
  return at == tree.end() ? "not there" : at->second.function.parent;
}

TEST(LspciTree, ParentsFollowTheBranches) {
  const Sightings tree = read_lspci_tree(kTree);
  EXPECT_EQ(tree.size(), 12U);
  EXPECT_EQ(parent_in(tree, "a0:02.0"), "0000:a0");
  EXPECT_EQ(parent_in(tree, "a1:00.0"), "0000:a0:02.0");
  EXPECT_EQ(parent_in(tree, "a2:08.0"), "0000:a1:00.0");
  EXPECT_EQ(parent_in(tree, "a2:10.0"), "0000:a1:00.0");
  EXPECT_EQ(parent_in(tree, "a3:00.0"), "0000:a2:08.0");
  EXPECT_EQ(parent_in(tree, "a5:00.1"), "0000:a2:10.0");
  EXPECT_EQ(parent_in(tree, "00:00.0"), "0000:00");
  EXPECT_EQ(parent_in(tree, "05:00.0"), "0000:00:03.0");
  EXPECT_EQ(parent_in(tree, "00:1f.0"), "0000:00");
  EXPECT_EQ(tree.at(*parse_pci_address("a3:00.0")).function.description,
            "AMD Navi 31 [Radeon RX 7900 XTX]");
}

TEST(LspciTree, ATreeThatLostItsBlanksGivesWhatItStillSays) {
  const Sightings tree =
      read_lspci_tree("-[0000:00]-+-00.0  Intel\n+-03.0-[05]----00.0  NVIDIA\n\\-1f.0  Intel\n");
  EXPECT_EQ(parent_in(tree, "00:00.0"), "0000:00");
  EXPECT_EQ(parent_in(tree, "05:00.0"), "not there");
}

TEST(LspciTree, JunkIsNoTree) {
  for (const char* line : {"-[", "-[zz]-", "-[0000:00]-[01]", "\\-+-+-+-", "-[0000:00]-+-99.9",
                           "-[0000:00]-+-00.0-[zz]-", "| | | |", "-+-[0000:00", "+-00."}) {
    EXPECT_LE(read_lspci_tree(line).size(), 1U) << line;
  }
}

}  // namespace
}  // namespace evener::host
