#include "doctor/fixes.h"

#include <algorithm>

namespace evener::doctor {
namespace {

constexpr std::string_view kShowBars = "lspci -vv -s BDF | grep -E 'Region|BAR'";
constexpr std::string_view kShowWindows = "sudo dmesg | grep -E 'root bus resource|bridge window'";
constexpr std::string_view kShowAcs = "sudo lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'";
constexpr std::string_view kShowIommu = "cat /sys/bus/pci/devices/BDF/iommu_group/type";
constexpr std::string_view kShowPeers = "evener doctor --verify";
constexpr std::string_view kShowTree = "lspci -tv";
constexpr std::string_view kShowLink = "sudo lspci -vv -s BDF | grep LnkSta";

constexpr std::string_view kBiosReset = "load the BIOS defaults";
constexpr std::string_view kCommandLine = "take the option off the kernel command line";
constexpr std::string_view kOldKernel = "boot the old kernel from the boot menu";

constexpr Fix kFixes[] = {
    {"F00", "capture the facts again: as root, on the host rather than in a guest, or under load",
     Risk::none, "", "the missing facts are there", "sudo evener snapshot"},
    {"F01", "BIOS: turn Above 4G Decoding on", Risk::low, kBiosReset,
     "a root bus resource above 4 GiB", kShowWindows},
    {"F02", "BIOS: turn Re-Size BAR support on, and CSM off", Risk::low, kBiosReset,
     "the size of the BAR", kShowBars},
    {"F03", "BIOS: raise the MMIO High size", Risk::low_to_medium,
     "clear the CMOS: beyond its limit a board may not boot", "the length of the host window",
     kShowWindows},
    {"F04", "BIOS: lower the MMIO High base below 16 TiB", Risk::medium,
     "clear the CMOS: a board may not boot with it", "the BAR's address is below 2^44", kShowBars},
    {"F05", "let the IOMMU translate: VT-d or AMD-Vi on, iommu=pt off the command line", Risk::low,
     kCommandLine, "the group's type is DMA or DMA-FQ, and peers are granted", kShowIommu},
    {"F06", "boot with iommu=pt", Risk::low, kCommandLine, "the group's type is identity",
     kShowIommu},
    {"F07", "turn the IOMMU off (intel_iommu=off or amd_iommu=off)", Risk::low_to_medium,
     kCommandLine, "there are no IOMMU groups", "ls /sys/kernel/iommu_groups"},
    {"F08", "move the cards below the same switch", Risk::low, "move them back",
     "both are below one port", kShowTree},
    {"F09", "move a card: to the same socket as its peer, or to a root port of its own", Risk::low,
     "move it back", "its place in the tree", kShowTree},
    {"F10", "boot with pci=disable_acs_redir= and the ports named here, separated by ;",
     Risk::low_to_medium, kCommandLine, "ReqRedir- and CmpltRedir- on each of them", kShowAcs},
    {"F11", "clear ACS with setpci, for a test: it is lost at the next reboot", Risk::low, "reboot",
     "ReqRedir- and CmpltRedir- on each of them", kShowAcs},
    {"F12", "put the kernel command line right", Risk::none, "",
     "no line with Unknown option in the log", "sudo dmesg | grep 'Unknown option'"},
    {"F13", "boot with pci=realloc", Risk::low_to_medium, kCommandLine, "the bridges' windows",
     kShowWindows},
    {"F14", "boot with pci=hpmmioprefsize=, for hot-plug bridges alone", Risk::low, kCommandLine,
     "the bridges' windows", kShowWindows},
    {"F15", "boot with pci=nocrs", Risk::high, kCommandLine,
     "a data check: BARs may come to lie over other devices", kShowPeers},
    {"F16", "boot a kernel whose list has this host bridge", Risk::low, kOldKernel,
     "the driver grants peer access", kShowPeers},
    {"F17", "back-port the list entry, which upstream has tested", Risk::low_to_medium, kOldKernel,
     "the driver grants peer access, and a data check passes", kShowPeers},
    {"F18", "add a list entry that nobody has tested: it may corrupt data in silence", Risk::high,
     kOldKernel, "a data check, without which it must not be used", kShowPeers},
    {"F19", "build a kernel with the series that reserves window room for Resizable BARs",
     Risk::medium, kOldKernel, "the bridges' windows and the size of the BAR", kShowWindows},
    {"F20", "leave kernel 7.0.x for 6.x or for a build with the cure", Risk::low,
     "boot the other kernel", "the second card has its BARs", kShowBars},
    {"F21", "kernel options PCI_P2PDMA and HSA_AMD_P2P on, amdgpu.pcie_p2p=1", Risk::low,
     kOldKernel, "p2p_links of the KFD nodes", "ls /sys/class/kfd/kfd/topology/nodes/*/p2p_links"},
    {"F22", "enumerate the cards anew at boot: write the BAR's size, remove, rescan", Risk::medium,
     "reboot", "the size of the BAR", kShowBars},
    {"F23", "widen the switch's windows before the system boots, with a UEFI program",
     Risk::medium_to_high, "remove the boot entry", "the bridges' windows", kShowWindows},
    {"F24", "flash a modified BIOS: it can brick the board", Risk::high,
     "write the old image back with a programmer", "the size of the BAR", kShowBars},
    {"F25", "update the card's VBIOS", Risk::high, "write the saved VBIOS back",
     "the sizes that the card supports", kShowBars},
    {"F26", "remove or move the other device with a large BAR", Risk::low, "put it back",
     "the size of the BAR", kShowBars},
    {"F27", "use a patched build of NVIDIA's open kernel module", Risk::medium,
     "install the stock driver", "the driver's matrix says OK, and a data check passes",
     "nvidia-smi topo -p2p r"},
    {"F28", "reseat the card; look at the riser, the slot, its bifurcation and M.2 lanes",
     Risk::low, "", "speed and width of the link under load", kShowLink},
    {"F29", "run without peer access (NCCL_P2P_DISABLE=1) or split by layers", Risk::none,
     "leave the variable out", "it runs without faults", ""},
    {"F30", "check data: copy each way, checked by the destination, then a collective", Risk::none,
     "", "the bytes are equal", ""},
    {"F31", "use another slot, or newer firmware of the card, for its atomic operations", Risk::low,
     "", "the card is a KFD node", "cat /sys/class/kfd/kfd/topology/nodes/*/gpu_id"},
    {"F32", "bind the process and its memory to the card's NUMA node", Risk::none, "",
     "the bandwidth", "numactl --cpunodebind=NODE --membind=NODE PROGRAM"},
};

}  // namespace

std::span<const Fix> all_fixes() { return kFixes; }

const Fix* find_fix(std::string_view id) {
  const auto* at = std::ranges::find(kFixes, id, &Fix::id);
  return at == std::ranges::end(kFixes) ? nullptr : at;
}

}  // namespace evener::doctor
