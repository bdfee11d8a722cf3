#include "host/machine_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/host_windows.h"
#include "host/kfd_text.h"

namespace evener::host {
namespace {

using testing::ElementsAre;

Machine cpu(std::string_view text) {
  Machine machine;
  read_cpu(text, machine);
  return machine;
}

std::string value_of(const std::vector<Setting>& settings, std::string_view name) {
  for (const Setting& setting : settings) {
    if (setting.name == name) return setting.value;
  }
  return "not there";
}

TEST(MachineText, ASnapshotsProcessorIsRead) {
  const Machine machine =
      cpu("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 79\nmodel name: Intel(R) Xeon(R)\n"
          "address sizes: 46 bits physical, 48 bits virtual\nsockets: 2\nhypervisor: 0\n");
  EXPECT_EQ(machine.cpu_vendor, "GenuineIntel");
  EXPECT_EQ(machine.cpu_family, 6U);
  EXPECT_EQ(machine.cpu_model, 79U);
  EXPECT_EQ(machine.cpu, "Intel(R) Xeon(R)");
  EXPECT_EQ(machine.physical_address_bits, 46U);
  EXPECT_EQ(machine.num_sockets, 2U);
  EXPECT_EQ(machine.guest, false);
}

TEST(MachineText, WhatLscpuPrintsIsReadToo) {
  const Machine machine =
      cpu("Vendor ID:                AuthenticAMD\r\nModel name:  AMD EPYC\r\nCPU family:   23\r\n"
          "Model:    49\r\nSocket(s):   0\r\nHypervisor vendor:  KVM\r\n");
  EXPECT_EQ(machine.cpu_vendor, "AuthenticAMD");
  EXPECT_EQ(machine.cpu_family, 23U);
  EXPECT_EQ(machine.guest, true);
  EXPECT_FALSE(machine.num_sockets.has_value());  // 0 is what is printed for "not known"
}

// facts.json has the same limits: what is read can be written and read again.
TEST(MachineText, NumbersOfNoProcessorAreNotBelieved) {
  const Machine machine =
      cpu("cpu family: 4096\nmodel: 70000\naddress sizes: 67 bits physical\nsockets: 1025\n");
  EXPECT_FALSE(machine.cpu_family.has_value());
  EXPECT_FALSE(machine.cpu_model.has_value());
  EXPECT_FALSE(machine.physical_address_bits.has_value());
  EXPECT_FALSE(machine.num_sockets.has_value());
}

TEST(MachineText, AMachineIsCalledByItsMakerOrElseByItsBoard) {
  Machine dell;
  read_dmi(
      "sys_vendor\tDell Inc.\nproduct_name\tPrecision Tower 7910\nboard_name\t0215PR\n"
      "bios_version\tA34\nbios_date\t10/19/2020\n",
      dell);
  EXPECT_EQ(dell.board, "Dell Inc. Precision Tower 7910");
  EXPECT_EQ(dell.bios, "A34 (10/19/2020)");
  Machine board;
  read_dmi(
      "sys_vendor\tSystem manufacturer\nproduct_name\tSystem Product Name\n"
      "board_vendor\tASUSTeK\nboard_name\tX99-E WS\n",
      board);
  EXPECT_EQ(board.board, "ASUSTeK X99-E WS");
  EXPECT_TRUE(board.bios.empty());
}

TEST(MachineText, AKernelOptionThatABuildLeavesOutIsOff) {
  const std::string_view text = "CONFIG_ZONE_DEVICE=y\n# CONFIG_PCI_P2PDMA is not set\n";
  const auto whole = read_kernel_config(text, true);
  EXPECT_EQ(value_of(whole, "CONFIG_PCI_P2PDMA"), "n");
  EXPECT_EQ(value_of(whole, "CONFIG_HSA_AMD_P2P"), "n");
  EXPECT_EQ(value_of(whole, "CONFIG_ZONE_DEVICE"), "y");
  const auto part = read_kernel_config(text, false);
  EXPECT_EQ(value_of(part, "CONFIG_HSA_AMD_P2P"), "not there");
  EXPECT_TRUE(read_kernel_config("", true).empty());
  EXPECT_TRUE(read_kernel_config("nothing\n=\nCONFIG\n", true).empty());
}

TEST(MachineText, OfTheCommandLineDisksAreLeftOut) {
  EXPECT_EQ(read_command_line("pci=realloc\niommu=pt\nother_options=4\n"), "pci=realloc iommu=pt");
  EXPECT_EQ(read_command_line("BOOT_IMAGE=MASKED root=MASKED ro iommu=pt\n"), "ro iommu=pt");
  EXPECT_EQ(read_command_line("other_options=4\n"), "");
}

TEST(MachineText, ModuleParametersGoByTheirModule) {
  const auto settings = read_modules(
      "/sys/module/amdgpu/parameters/pcie_p2p\tY\n/sys/module/amdgpu/parameters/rebar\t-1\n"
      "/sys/module/nvidia/version\t570.86\n/proc/driver/nvidia/params\tEnableResizableBar: 1\n"
      "/proc/driver/nvidia/version\tNVRM version: NVIDIA UNIX Open Kernel Module\njunk\n\t\n");
  EXPECT_EQ(value_of(settings, "amdgpu.pcie_p2p"), "y");
  EXPECT_EQ(value_of(settings, "amdgpu.rebar"), "-1");
  EXPECT_EQ(value_of(settings, "nvidia.version"), "570.86");
  EXPECT_EQ(value_of(settings, "nvidia.EnableResizableBar"), "1");
  EXPECT_EQ(value_of(settings, "nvidia.module"), "NVRM version: NVIDIA UNIX Open Kernel Module");
  EXPECT_EQ(settings.size(), 5U);
}

TEST(MachineText, NodesHaveProcessorsAndDistances) {
  const auto nodes = read_nodes("node0\t0-13,28-41\t10 21\nnode1\t14-27\t21 10\nnodeX\t\nnode2\n");
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[1].cpus, "14-27");
  EXPECT_THAT(nodes[1].distances, ElementsAre(21, 10));
  EXPECT_TRUE(nodes[2].cpus.empty());
}

TEST(HostWindows, OnlyTheOutermostBusesCount) {
  const Iomem iomem = read_iomem(
      "00000000-00000fff : Reserved\n"
      "d0000000-f7ffffff : PCI Bus 0000:00\n"
      "  d0000000-d00fffff : PCI Bus 0000:01\n"
      "    d0000000-d000ffff : 0000:01:00.0\n"
      "e0000000-efffffff : Reserved\n"
      "  e0000000-e0ffffff : PCI Bus 0000:a0\n"
      "c000000000-ffffffffff : PCI Bus 0000:00\n");
  ASSERT_EQ(iomem.buses.size(), 2U);
  EXPECT_EQ(iomem.buses.at("0000:00").ranges.size(), 2U);
  EXPECT_EQ(iomem.buses.at("0000:00").ranges[1].size_bytes(), uint64_t{1} << 38);
  EXPECT_TRUE(iomem.buses.contains("0000:a0"));
  EXPECT_FALSE(iomem.is_hidden);
}

TEST(HostWindows, ZerosAreWhatTheKernelShowsWithoutRoot) {
  const Iomem iomem = read_iomem("00000000-00000000 : PCI Bus 0000:00\n00000000-00000000 : x\n");
  EXPECT_TRUE(iomem.is_hidden);
  EXPECT_TRUE(iomem.buses.empty());
  EXPECT_FALSE(read_iomem("").is_hidden);
}

TEST(KfdText, NodesGiveCardsAndGrants) {
  const Kfd kfd = read_kfd(
      "0/properties\tcpu_cores_count 32\n0/properties\tsimd_count 0\n"
      "./1/properties\tsimd_count 192\n1/properties\tgfx_target_version 110000\n"
      "1/properties\tlocation_id 1792\n1/properties\tdomain 0\n"
      "1/mem_banks/0/properties\theap_type 2\n1/mem_banks/0/properties\tsize_in_bytes 25753026560\n"
      "1/p2p_links/0/properties\tnode_from 1\n1/p2p_links/0/properties\tnode_to 2\n"
      "2/properties\tsimd_count 120\n2/properties\tgfx_target_version 90008\n"
      "2/properties\tlocation_id 2568\n2/mem_banks/0/properties\theap_type 1\n"
      "2/mem_banks/0/properties\tsize_in_bytes 34342961152\n");
  ASSERT_EQ(kfd.cards.size(), 2U);
  const Card& small = kfd.cards.at(*parse_pci_address("07:00.0")).card;
  EXPECT_EQ(small.gfx, "gfx1100");
  EXPECT_EQ(small.vram_bytes, 25753026560U);
  EXPECT_FALSE(small.visible_vram_bytes.has_value());
  EXPECT_EQ(small.in_kfd, true);
  const Card& large = kfd.cards.at(*parse_pci_address("0a:01.0")).card;
  EXPECT_EQ(large.visible_vram_bytes, 34342961152U);
  ASSERT_EQ(kfd.granted.size(), 1U);
  EXPECT_EQ(to_string(kfd.granted[0].from), "0000:07:00.0");
  EXPECT_EQ(to_string(kfd.granted[0].to), "0000:0a:01.0");
}

TEST(KfdText, GfxNamesHaveAHexadecimalEnd) {
  EXPECT_EQ(gfx_name(90010), "gfx90a");
  EXPECT_EQ(gfx_name(90402), "gfx942");
  EXPECT_EQ(gfx_name(120001), "gfx1201");
  EXPECT_EQ(gfx_name(100300), "gfx1030");
  EXPECT_EQ(gfx_name(0), "");
  EXPECT_EQ(gfx_name(~uint64_t{0}), "");
}

TEST(KfdText, DamagedListsGiveWhatTheySay) {
  const Kfd kfd = read_kfd(
      "x\ty\n1/properties\tsimd_count many\n99999999/properties\tsimd_count 1\n"
      "1/p2p_links/0/properties\tnode_to 1\n/\t\n1/\tsimd_count 4\n");
  EXPECT_TRUE(kfd.cards.empty());
  EXPECT_TRUE(kfd.granted.empty());
}

}  // namespace
}  // namespace evener::host
