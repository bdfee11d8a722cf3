#include "host/kernel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::host {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

Seen seen_in(std::string_view log, std::string_view address) {
  const KernelLog read = read_kernel_log(log);
  const auto at = read.functions.find(*parse_pci_address(address));
  return at == read.functions.end() ? Seen{} : at->second;
}

TEST(KernelLog, BarsAreReadFromOldAndNewKernels) {
  const Seen old = seen_in(
      "[    0.5] pci 0000:07:00.0: reg 0x10: [mem 0xc0000000-0xcfffffff 64bit pref]\n"
      "[   12.2] amdgpu 0000:07:00.0: BAR 2: assigned [mem 0xd0000000-0xd01fffff 64bit pref]\n",
      "07:00.0");
  ASSERT_EQ(old.function.bars.size(), 2U);
  EXPECT_EQ(old.function.bars[0].size_bytes, 256 * kMiB);
  EXPECT_EQ(old.function.bars[1].base, 0xd0000000U);
  EXPECT_EQ(old.function.driver, "amdgpu");
  const Seen fresh = seen_in(
      "pci 0000:0e:00.0: BAR 0 [mem 0x90000000000-0x9000fffffff 64bit pref]\n"
      "pci 0000:0e:00.0: BAR 0 [mem size 0x800000000 64bit pref]: can't assign; no space\n",
      "0e:00.0");
  ASSERT_EQ(fresh.function.bars.size(), 1U);
  EXPECT_EQ(fresh.function.bars[0].size_bytes, 0U);  // what came last
  EXPECT_FALSE(fresh.function.bars[0].base.has_value());
}

TEST(KernelLog, BridgesGiveBusesAndWindows) {
  const Seen seen = seen_in(
      "pcieport 0000:05:00.0: PCI bridge to [bus 06-07]\n"
      "pcieport 0000:05:00.0:   bridge window [io  0xe000-0xefff]\n"
      "pcieport 0000:05:00.0:   bridge window [mem 0xfb400000-0xfb4fffff]\n"
      "pcieport 0000:05:00.0:   bridge window [mem 0xc0000000-0xd01fffff 64bit pref]\n",
      "05:00.0");
  EXPECT_TRUE(seen.function.is_bridge);
  EXPECT_EQ(seen.below->secondary, 6);
  EXPECT_EQ(seen.below->subordinate, 7);
  EXPECT_EQ(seen.function.memory.size_bytes, kMiB);
  EXPECT_EQ(seen.function.prefetchable.size_bytes, 258 * kMiB);
  const Seen lost = seen_in(
      "pci 0000:08:10.0: bridge window [mem size 0x800200000 64bit pref]: can't assign; no space\n",
      "08:10.0");
  EXPECT_EQ(lost.function.prefetchable.size_bytes, 0U);
}

TEST(KernelLog, TheIdOfADeviceAndItsKindOfPortAreRead) {
  const Seen seen =
      seen_in("pci 0000:00:02.0: [8086:6f04] type 01 class 0x060400 PCIe Root Port\n", "00:02.0");
  EXPECT_EQ(seen.function.id, (PciId{0x8086, 0x6f04}));
  EXPECT_EQ(seen.function.port, PortKind::root);
  EXPECT_TRUE(seen.function.is_bridge);
}

TEST(KernelLog, VramGoesToTheCardWhoseDriverSpokeLast) {
  const std::string_view log =
      "[    1.0] amdgpu 0000:07:00.0: enabling device (0006 -> 0007)\n"
      "[    1.1] [drm] Detected VRAM RAM=8176M, BAR=256M\n"
      "[    1.2] amdgpu 0000:0d:00.0: amdgpu: Detected VRAM RAM=24560M, BAR=32768M\n"
      "[    1.3] amdgpu 0000:10:00.0: amdgpu: VRAM: 32624M 0x8000000000 - 0x87F6FFFFFF (32624M "
      "used)\n";
  EXPECT_EQ(seen_in(log, "07:00.0").card.vram_bytes, 8176 * kMiB);
  EXPECT_EQ(seen_in(log, "07:00.0").card.visible_vram_bytes, 256 * kMiB);
  EXPECT_EQ(seen_in(log, "0d:00.0").card.vram_bytes, 24560 * kMiB);
  EXPECT_EQ(seen_in(log, "10:00.0").card.vram_bytes, 32624 * kMiB);
}

TEST(KernelLog, TheLinkThatLimitsIsThatOfThePortNamed) {
  const Seen seen = seen_in(
      "pci 0000:05:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at "
      "0000:00:03.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n",
      "00:03.0");
  EXPECT_EQ(seen.function.link->now_gts, 8);
  EXPECT_EQ(seen.function.link->now_width, 8U);
}

TEST(KernelLog, RootWindowsAreWholeOnceTheBusNumbersFollow) {
  const KernelLog log = read_kernel_log(
      "[    0.4] pci_bus 0000:16: root bus resource [mem 0x10000000000-0x13fffffffff window]\n"
      "[    0.4] pci_bus 0000:64: root bus resource [io  0x0000-0x0cf7 window]\n"
      "[    0.4] pci_bus 0000:64: root bus resource [mem 0xd0000000-0xdfffffff window]\n"
      "[    0.4] pci_bus 0000:64: root bus resource [bus 64-7f]\n");
  ASSERT_EQ(log.roots.size(), 2U);
  EXPECT_FALSE(log.roots.at("0000:16").is_whole);
  EXPECT_EQ(log.roots.at("0000:16").ranges[0].size_bytes(), uint64_t{1} << 38);
  EXPECT_TRUE(log.roots.at("0000:64").is_whole);
  EXPECT_EQ(log.roots.at("0000:64").ranges.size(), 1U);
}

TEST(KernelLog, TheMachineIsKnownFromIt) {
  const KernelLog log = read_kernel_log(
      "[0.0] Linux version 7.0.14-p2pdma (me@there) (gcc 15) #1 SMP\n"
      "[0.0] Command line: BOOT_IMAGE=/vmlinuz\n"
      "[0.0] Kernel command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=pt pci=noacs\n"
      "[0.0] PCI: Unknown option `noacs'\n"
      "[0.0] DMI: Dell Inc. Precision Tower 7910/0215PR, BIOS A34 10/19/2020\n"
      "[0.0] Hypervisor detected: KVM\n"
      "[0.1] smpboot: CPU0: Intel(R) Xeon(R) CPU E5-2683 v4 @ 2.10GHz (family: 0x6, model: 0x4f, "
      "stepping: 0x1)\n"
      "[0.2] iommu: Default domain type: Passthrough (set via kernel command line)\n"
      "[0.3] pci 0000:00:00.0: Adding to iommu group 0\n");
  EXPECT_EQ(log.release, "7.0.14-p2pdma");
  EXPECT_THAT(*log.command_line, HasSubstr("pci=noacs"));
  EXPECT_THAT(log.unknown_options, ElementsAre("PCI: Unknown option `noacs'"));
  EXPECT_EQ(log.machine.board, "Dell Inc. Precision Tower 7910");
  EXPECT_EQ(log.machine.bios, "A34 (10/19/2020)");
  EXPECT_EQ(log.machine.guest, true);
  EXPECT_EQ(log.machine.cpu, "Intel(R) Xeon(R) CPU E5-2683 v4 @ 2.10GHz");
  EXPECT_EQ(log.machine.cpu_vendor, "GenuineIntel");
  EXPECT_EQ(log.machine.cpu_family, 6U);
  EXPECT_EQ(log.machine.cpu_model, 79U);
  EXPECT_EQ(log.default_domain, IommuMode::identity);
  EXPECT_TRUE(log.has_iommu_groups);
}

TEST(KernelLog, LinesThatMatterAreKeptWithoutTimeAndName) {
  const KernelLog log = read_kernel_log(
      "Nov 30 07:00:00 secret-name kernel: amdgpu 0000:03:00.0: amdgpu: PCIe P2P access from peer "
      "device 0000:a3:00.0 is not supported by the chipset\r\n"
      "[   12.253295] [drm] Not enough PCI address space for a large BAR.\n"
      "[   13.0] usb 1-1: new high-speed USB device\n");
  EXPECT_THAT(log.lines,
              ElementsAre("amdgpu 0000:03:00.0: amdgpu: PCIe P2P access from peer device "
                          "0000:a3:00.0 is not supported by the chipset",
                          "[drm] Not enough PCI address space for a large BAR."));
}

TEST(KernelLog, AMachineThatRepeatsItselfDoesNotFillTheFacts) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "pci 0000:01:00.0: BAR 1: can't assign; no space\n";
  EXPECT_EQ(read_kernel_log(text).lines.size(), 2'000U);
}

TEST(KernelLog, DamagedLinesAreLeftOut) {
  const KernelLog log = read_kernel_log(
      "pci 0000:01:00.0: BAR 9 [mem 0x1-0x2]\n"
      "pci 0000:01:00.0: BAR 0 [mem zz-yy]\n"
      "pci 0000:01:00.0: BAR 0 [mem 0xffffffffffffffff-0xffffffffffffffff]\n"
      "pci 0000:01:00.0: reg 0x00: [mem 0x1000-0x1fff]\n"
      "pci 0000:01:00.0: bridge window [mem\n"
      "pci 0000:01:00.0: PCI bridge to [bus zz]\n"
      "pci 0000:01:00.0: limited by x99 link at nowhere\n"
      "pci_bus 0000:zz: root bus resource [mem 0x0-0x0]\n"
      "pci_bus 0000:00: root bus resource [mem 0xffff-0x0 window]\n"
      "[   \n[]\n[1.0]\n\n");
  const Function& function = log.functions.at(*parse_pci_address("01:00.0")).function;
  for (const Bar& bar : function.bars) EXPECT_FALSE(bar.base.has_value());
  EXPECT_FALSE(function.link.has_value());
  EXPECT_TRUE(log.roots.at("0000:00").ranges.empty());
}

TEST(KernelLog, ALineOfALogIsKnownAsOne) {
  for (const char* line : {"[    1.2] anything", "pci 0000:00:00.0: x", "amdgpu: x", "[drm] x",
                           "Nov 30 07:00:00 name kernel: pci x", "NVRM: x"}) {
    EXPECT_TRUE(is_log_line(line)) << line;
  }
  for (const char* line : {"00:00.0 Host bridge: Intel", "\tRegion 0: Memory at c0000000", "",
                           "[AMD/ATI] Vega", "$ dmesg | grep pci"}) {
    EXPECT_FALSE(is_log_line(line)) << line;
  }
}

}  // namespace
}  // namespace evener::host
