// The texts of machines that people described in public, as far as they were printed: see
// ../shared/cases/host. Each file is what a user may paste.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host_data.h"

namespace evener::host {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string raw(const std::string& file) {
  return text_of(std::filesystem::path(EVENER_TEST_DATA) / "host" / "cases" / file);
}

std::string refusal(const std::string& file) {
  const auto snapshot = snapshot_of_text(raw(file), file);
  if (!snapshot) return to_string(snapshot.error());
  const auto facts = facts_of(*snapshot);
  return facts ? "was read" : to_string(facts.error());
}

TEST(Cases, ABoardIsKnownFromItsDmi) {
  const HostFacts facts = facts_in(
      {.files = {{"dmi.txt", raw("01-t7910-switch-stock-windows/dmi.txt")}}, .origin = "01"});
  EXPECT_EQ(facts.machine.board, "Precision Tower 7910");
  EXPECT_EQ(facts.machine.bios, "A34 (10/19/2020)");
  EXPECT_FALSE(facts.complete);
}

// Summaries in a person's own words are no output of any tool.
TEST(Cases, WordsOfAPersonAreRefusedWithAHint) {
  for (const char* file :
       {"01-t7910-switch-stock-windows/facts-as-printed.txt",
        "02-t7910-switch-headroom-kernel/facts-as-printed.txt",
        "03-x99tf-two-r9700-list-entry/facts-as-printed.txt",
        "06-rocketlake-two-root-ports/observed.txt",
        "08-zen2-acs-redirect-nccl-hang/facts-as-printed.txt", "09-mi100-rccl-needs-pt/rccl.txt",
        "11-x470-bars-below-4g/facts-as-printed.txt",
        "13-4090-48g-bar-ceiling/facts-as-printed.txt"}) {
    EXPECT_THAT(refusal(file), HasSubstr("paste what 'sudo lspci -vvv' and 'sudo dmesg' print"))
        << file;
  }
}

TEST(Cases, ASmallBarIsSeenInTheLogAndInLspci) {
  const std::string folder = "04-x99ews-one-card-small-bar/";
  const HostFacts facts = facts_of_pasted(raw(folder + "lspci.txt") + raw(folder + "dmesg.txt"));
  ASSERT_EQ(facts.gpus.size(), 1U);
  const Gpu& gpu = facts.gpus[0];
  EXPECT_EQ(gpu.model, "Radeon PRO WX 8100");
  EXPECT_EQ(gpu.vram_bytes, 8176 * kMiB);
  EXPECT_EQ(gpu.visible_vram_bytes, 256 * kMiB);
  EXPECT_EQ(gpu.vram_bar, 0U);
  const Function& function = function_at(facts, "0000:07:00.0");
  EXPECT_EQ(bar_of(function, 0)->size_bytes, 256 * kMiB);
  EXPECT_EQ(bar_of(function, 0)->base, 0xc0000000U);
  EXPECT_EQ(function.driver, "amdgpu");
  EXPECT_EQ(function.numa_node, 0);
  EXPECT_EQ(function.parent, "0000:06:00.0");  // the log names the bridge with bus 07 behind it
  EXPECT_EQ(function_at(facts, "0000:06:00.0").prefetchable.size_bytes, 258 * kMiB);
  EXPECT_THAT(facts.log, Contains("[drm] Not enough PCI address space for a large BAR."));
}

TEST(Cases, ABarAbove16TiBIsReadAndTheMatrixOfPeersToo) {
  const std::string folder = "05-x99ews-bars-above-44-bits/";
  const HostFacts facts = facts_of_pasted(raw(folder + "lspci.txt") +
                                          "0d:00.0 VGA compatible controller: Advanced Micro "
                                          "Devices, Inc. [AMD/ATI] Vega 10 [Radeon PRO WX 8100]\n" +
                                          raw(folder + "rocm_bandwidth_test.txt"));
  const Function& function = function_at(facts, "0000:07:00.0");
  EXPECT_EQ(bar_of(function, 0)->base, 0x380400000000U);
  EXPECT_EQ(bar_of(function, 0)->size_bytes, 8 * kGiB);
  EXPECT_EQ(bar_of(function, 5)->size_bytes, kMiB / 2);
  ASSERT_EQ(facts.observed.peers.size(), 2U);
  EXPECT_FALSE(facts.observed.peers[0].allowed);
  ASSERT_EQ(facts.observed.rates.size(), 4U);
  EXPECT_EQ(facts.observed.rates[0].what, "h2d_gbs");
  EXPECT_EQ(facts.observed.rates[0].of, "B");
  EXPECT_EQ(facts.observed.rates[0].gb_per_s, 13.377405);
  EXPECT_TRUE(function.parent.empty());  // two devices of a listing do not make a tree
  EXPECT_TRUE(facts.roots.empty());
}

TEST(Cases, AKernelThatRefusesIsQuoted) {
  const HostFacts facts = facts_of_pasted(raw("06-rocketlake-two-root-ports/dmesg.txt"));
  EXPECT_EQ(function_at(facts, "0000:07:00.0").driver, "xe");
  EXPECT_EQ(facts.gpus.size(), 1U);
  EXPECT_THAT(facts.log, ElementsAre(HasSubstr("cannot be used for peer-to-peer DMA")));
}

TEST(Cases, TheWindowOfARootBusAndTheSizesOfACardAreRead) {
  const std::string folder = "07-x299sage-plx8747-window/";
  const HostFacts facts = facts_of_pasted(raw(folder + "dmesg.txt") + raw(folder + "lspci.txt"));
  const RootBus* root = find_root(facts, "0000:16");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->memory_64.base, 0x10000000000U);
  EXPECT_EQ(root->memory_64.size_bytes, 256 * kGiB);
  ASSERT_EQ(facts.gpus.size(), 1U);
  EXPECT_EQ(facts.gpus[0].vram_bar, 1U);
  const Bar* bar = bar_of(function_at(facts, "0000:19:00.0"), 1);
  ASSERT_NE(bar, nullptr);
  EXPECT_EQ(bar->size_bytes, 64 * kMiB);
  EXPECT_EQ(bar->resizable->back(), 16 * kGiB);
}

TEST(Cases, ACommandLineIsReadWithoutItsDisks) {
  const HostFacts facts = facts_of_pasted(raw("09-mi100-rccl-needs-pt/cmdline-after.txt"));
  EXPECT_EQ(facts.kernel.command_line, "ro iommu=pt");
}

TEST(Cases, AGuestsBridgeIsRead) {
  const HostFacts facts =
      facts_of_pasted(raw("10-3090-pair-seen-from-a-guest/facts-as-printed.txt"));
  EXPECT_EQ(function_at(facts, "0000:00:00.0").id, (PciId{0x8086, 0x29c0}));
}

TEST(Cases, ASecondCardThatLostItsBarIsKnown) {
  const HostFacts facts = facts_of_pasted(raw("12-duo-module-kernel-7-0-window-sum/dmesg.txt"));
  EXPECT_EQ(function_at(facts, "0000:06:00.0").prefetchable.size_bytes, 64 * kGiB + 4 * kMiB);
  EXPECT_EQ(function_at(facts, "0000:08:08.0").prefetchable.size_bytes, 32 * kGiB + 2 * kMiB);
  EXPECT_EQ(function_at(facts, "0000:08:10.0").prefetchable.size_bytes, 0U);
  EXPECT_EQ(bar_of(function_at(facts, "0000:0e:00.0"), 0)->size_bytes, 0U);
  EXPECT_THAT(facts.log, Contains(HasSubstr("trn=2 ACK should not assert")));
  ASSERT_EQ(facts.gpus.size(), 1U);  // its driver spoke of it
  EXPECT_EQ(facts.gpus[0].function, "0000:0e:00.0");
  EXPECT_EQ(facts.gpus[0].vram_bar, 0U);
}

TEST(Cases, FourCardsOnTwoSocketsSeeTheirNeighbours) {
  std::string text = raw("14-four-1080ti-two-sockets-iommu/p2pBandwidthLatencyTest.txt");
  for (const char* bus : {"02", "03", "82", "83"}) {
    text += std::string(bus) +
            ":00.0 VGA compatible controller: NVIDIA Corporation GP102 [GeForce "
            "GTX 1080 Ti]\n";
  }
  const HostFacts facts = facts_of_pasted(text);
  ASSERT_EQ(facts.gpus.size(), 4U);
  ASSERT_EQ(facts.observed.peers.size(), 12U);
  EXPECT_TRUE(facts.observed.peers[0].allowed);   // A to B
  EXPECT_FALSE(facts.observed.peers[1].allowed);  // A to C
}

}  // namespace
}  // namespace evener::host
