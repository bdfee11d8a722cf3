#include <array>

#include "doctor/explanations.h"

// Rules about what could be read, the devices, the kernel's build, BARs and addresses.
// Source: reference/host/pci-p2p.md, section 7.2, A to E; grounds in its sections 1 to 4.

namespace evener::doctor {
namespace {

constexpr std::array kFactExplanations = {
    Explanation{
        .rule = "R01",
        .title = "the capture is not complete",
        .when = "The upper part of the configuration space was not readable, or the kernel gave "
                "out its memory map with all addresses as zero.",
        .why = "Both need root. Without them the ACS bits, the Resizable BAR sizes and the "
               "windows of the host bridges are not known, and whatever depends on them is left "
               "open instead of guessed.",
        .look = "lspci -vvv says <access denied>; /proc/iomem begins each line with zeros.",
        .fixes = "F00"},
    Explanation{
        .rule = "R02",
        .title = "this is a virtual machine",
        .when = "The device at 00:00.0 is one that hypervisors emulate, or the processor says "
                "that a hypervisor is there.",
        .why = "BAR sizes, ACS bits and the host bridge are then those of the emulated machine. "
               "Nothing can be said from inside about what the real one could do; an NVIDIA "
               "driver refuses all pairs because the emulated chipset is in no table.",
        .look = "lspci -nns 00:00.0: 8086:29c0 and 8086:1237 are emulated.",
        .fixes = "F00 F29"},
    Explanation{
        .rule = "R03",
        .title = "an option on the kernel's command line is not in force",
        .when = "The kernel reported an unknown option, or a list of devices is separated by "
                "commas, or pci=noacs is there.",
        .why = "The kernel cuts the pci= argument at commas, so that of such a list only the "
               "first device is taken; device lists want semicolons, and a semicolon wants "
               "quotes in GRUB's file. pci=noacs is advised in many places and exists in no "
               "mainline kernel.",
        .look = "dmesg | grep 'Unknown option'; the real state is in the ACSCtl lines.",
        .fixes = "F12"},
    Explanation{.rule = "R04",
                .title = "a kernel 7.0 with several cards under one switch",
                .when = "The kernel is 7.0 without the fix, and two cards or more share a switch.",
                .why = "This kernel adds up the windows of neighbours without the gap that their "
                       "alignment needs. Advice that makes it size the windows again (pci=realloc, "
                       "re-enumeration) can cost the second card all of its BARs.",
                .look = "uname -r; afterwards dmesg | grep \"can't assign\".",
                .fixes = "F20"},
    Explanation{
        .rule = "R10",
        .title = "a card has a BAR without an address",
        .when = "Firmware and kernel found no room for a memory BAR of the card.",
        .why = "Without its BARs the card cannot be used at all. amdgpu must not be bound to it: "
               "it takes such a card for a virtual function, and its probe hangs until the next "
               "start of the machine.",
        .look = "dmesg | grep -e \"can't assign\" -e 'BAR1 is 0M'; lspci -v shows <unassigned>.",
        .fixes = "F01 F03 F26 F20 F13 F24"},
    Explanation{
        .rule = "R11",
        .title = "the ROCm driver left a card out for want of atomic operations",
        .when = "KFD printed that PCI rejects atomics for the card.",
        .why = "Some cards need atomic operations over PCIe up to the root port. A port on the "
               "way, often one of the chipset, does not pass them on. Newer firmware of some "
               "cards does without.",
        .look = "dmesg | grep 'rejects atomics'; lspci -vvv, AtomicOpsCap of each port above.",
        .fixes = "F31 F09"},
    Explanation{
        .rule = "R12",
        .title = "no driver that could answer is bound to a card",
        .when = "The card has no driver, or vfio-pci holds it for a virtual machine.",
        .why = "What a driver would do with the card cannot be seen, so its pairs stay open.",
        .look = "lspci -k: Kernel driver in use.",
        .fixes = ""},
    Explanation{
        .rule = "R20",
        .title = "the kernel is built or set up without peer-to-peer for AMD cards",
        .when = "CONFIG_PCI_P2PDMA or CONFIG_HSA_AMD_P2P is not set, amdgpu.pcie_p2p is off, or "
                "the kernel is older than 6.0.",
        .why = "The driver then never asks whether a pair could work. Nothing is printed.",
        .look = "grep -e P2PDMA -e HSA_AMD_P2P /boot/config-$(uname -r); "
                "cat /sys/module/amdgpu/parameters/pcie_p2p",
        .fixes = "F21"},
    Explanation{.rule = "R21",
                .title = "NVIDIA's driver refuses this model",
                .when = "A GeForce of the 40 or 50 series on the driver as NVIDIA ships it.",
                .why = "A decision of the vendor's driver by model, not of the board or the slots. "
                       "Patched open modules lift it and then need BARs as large as the memory.",
                .look = "nvidia-smi topo -p2p r: GNS, CNS or NS.",
                .fixes = "F29 F27"},
    Explanation{
        .rule = "R22",
        .title = "NVIDIA's driver does not know the chipset",
        .when = "It says CNS on a real machine, and the cards share no switch that it knows.",
        .why = "The driver looks up the device at 00:00.0 in a table of its own. A common PCIe "
               "switch of a make that it knows would also do.",
        .look = "nvidia-smi topo -p2p r; lspci -nns 00:00.0.",
        .fixes = "F08"},
    Explanation{
        .rule = "R30",
        .title = "the BAR shows less than the card's memory",
        .when = "The BAR for the memory is smaller than the memory.",
        .why = "Another card reaches this one's memory through that BAR. The AMD driver grants "
               "access only if the BAR shows all of it, and refuses without a message. The rules "
               "that follow say why it is small.",
        .look = "dmesg | grep 'Detected VRAM': the two numbers must be equal; or compare "
                "mem_info_vis_vram_total with mem_info_vram_total in the card's sysfs folder.",
        .fixes = ""},
    Explanation{
        .rule = "R31",
        .title = "the card itself offers no BAR that is large enough",
        .when = "The largest size in its Resizable BAR list is below its memory.",
        .why = "The list is part of the card. No setting of board or kernel goes beyond it; some "
               "vendors have a newer VBIOS with a longer list.",
        .look = "lspci -vvv: Physical Resizable BAR, supported.",
        .fixes = "F29 F25"},
    Explanation{.rule = "R32",
                .title = "the firmware gives no window above 4 GiB",
                .when = "The host bridge has no 64-bit window, or the card's BAR lies below 4 GiB.",
                .why =
                    "Below 4 GiB all devices together have less than 4 GiB of addresses. Drivers "
                    "only try to enlarge a BAR if there is a window above.",
                .look = "dmesg | grep 'root bus resource': a range beyond 0xffffffff.",
                .fixes = "F01 F15 F24"},
    Explanation{
        .rule = "R33",
        .title = "the host bridge's window is too short",
        .when = "The BARs at the size of the memory, with their alignment, need more than the "
                "window above 4 GiB has.",
        .why = "The window comes from the firmware, and the kernel does not go beyond it. n BARs "
               "of size B with a small BAR s beside each need (n-1) x 2B + B + s.",
        .look = "dmesg | grep 'root bus resource'.",
        .fixes = "F26 F03 F24"},
    Explanation{
        .rule = "R34",
        .title = "a window inside a switch is too short, and the cards pin it",
        .when = "The host bridge has room enough, but the window of a port that several cards "
                "share has not.",
        .why = "A driver that enlarges a BAR may also enlarge the windows above it, but only "
               "those that hold nothing else. Two cards under one switch hold the common window "
               "for each other. pci=realloc alone does not help: it sizes windows for the BARs "
               "of that moment, which are small.",
        .look = "dmesg | grep 'was not released'; lspci -vv: Prefetchable memory behind bridge.",
        .fixes = "F09 F02 F19 F22 F23 F24"},
    Explanation{
        .rule = "R35",
        .title = "kernel 7.0 sized a common window without the gaps",
        .when = "On a kernel 7.0 one card under a switch got its BARs and its twin did not.",
        .why = "Each BAR must begin at a multiple of its size, so between neighbours there are "
               "gaps; this kernel leaves them out of the sum.",
        .look = "dmesg: one bridge window assigned, the next: can't assign; no space.",
        .fixes = "F20"},
    Explanation{.rule = "R36",
                .title = "something that is no card pins the window",
                .when =
                    "A device beside the card, or the switch on the card itself, has a BAR in the "
                    "window that would have to grow.",
                .why = "A window that holds anything assigned is not moved.",
                .look = "/proc/iomem (as root) shows what lies in the bridge's window.",
                .fixes = "F26 F19 F22"},
    Explanation{.rule = "R37",
                .title = "some cards got large BARs and others did not",
                .when = "Of cards under one host bridge, only some show all of their memory.",
                .why = "The window was used up before the last one had its turn.",
                .look = "lspci -v: compare the prefetchable regions of the cards.",
                .fixes = "F26 F03"},
    Explanation{.rule = "R38",
                .title = "every BAR shows all of the memory",
                .when = "No BAR of the two cards is smaller than the card's memory.",
                .why = "This gate is passed. It says nothing yet about addresses and routes.",
                .look = "",
                .fixes = ""},
    Explanation{
        .rule = "R40",
        .title = "one card's BAR lies above the addresses that the other can form",
        .when = "The BAR ends beyond 2 to the power of the other card's DMA mask, and the IOMMU "
                "does not translate.",
        .why = "Cards of the gfx9 to gfx12 families mostly form 44-bit addresses, 16 TiB. Boards "
               "with the X99 and C612 chipsets like to put the window at 56 TiB. Everything looks "
               "perfect in lspci, and access is refused without a message.",
        .look = "cat /sys/bus/pci/devices/BDF/dma_mask_bits, and the start of the BAR in "
                "lspci -v.",
        .fixes = "F05 F04"},
    Explanation{
        .rule = "R41",
        .title = "the address would be too high, but the IOMMU translates",
        .when = "As R40, with the IOMMU in translated mode.",
        .why = "The card is given an address that it can form. Changing to iommu=pt takes that "
               "away; check both BARs before you do.",
        .look = "cat /sys/bus/pci/devices/BDF/iommu_group/type: DMA or DMA-FQ.",
        .fixes = ""},
};

}  // namespace

std::span<const Explanation> explanations_of_facts() { return kFactExplanations; }

}  // namespace evener::doctor
