#include "doctor/kernel_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Lines = std::vector<std::string>;

bool offers(const Lines& fixes, std::string_view id) {
  return std::ranges::find(fixes, id) != fixes.end();
}

template <size_t N>
bool offers_any(const Lines& fixes, const std::array<std::string_view, N>& ids) {
  return std::ranges::any_of(ids, [&](std::string_view id) { return offers(fixes, id); });
}

void title(Lines& lines, std::string text) {
  if (!lines.empty()) lines.emplace_back();
  lines.push_back(std::move(text));
}

// Ids that this kernel's list lacks, of the host bridges above cards.
struct Wanted {
  host::PciId id;
  bool same_bridge = true;  // the careful form, unless upstream's entry goes without
  bool is_tested = false;   // upstream has it in a later release
  bool corrupts = false;

  bool operator<(const Wanted& other) const { return id < other.id; }
};

std::set<Wanted> wanted_ids(const Case& c) {
  std::set<Wanted> ids;
  for (const auto& [root, answer] : c.list_answers) {
    if (answer.kind != ListAnswer::Kind::unmatched || !root->first.id) continue;
    Wanted wanted;
    wanted.id = *root->first.id;
    wanted.is_tested = answer.entry != nullptr;
    wanted.same_bridge = answer.entry == nullptr || answer.entry->same_bridge;
    wanted.corrupts = !known_corruption(wanted.id).empty();
    ids.insert(wanted);
  }
  return ids;
}

std::string vendor_name(uint16_t vendor) {
  if (vendor == 0x8086) return "PCI_VENDOR_ID_INTEL";
  return fmt::format("0x{:04x}", vendor);
}

std::string entry_line(const Wanted& wanted) {
  return fmt::format("+\t{{{}, 0x{:04x}, {}}},", vendor_name(wanted.id.vendor), wanted.id.device,
                     wanted.same_bridge ? "REQ_SAME_HOST_BRIDGE" : "0");
}

// The list's head is the one place that has looked alike since 5.9.
constexpr Release kListHead{5, 9};

void add_patch(const Case& c, const std::set<Wanted>& ids, Lines& lines) {
  title(lines,
        fmt::format("Patch of the allow list for kernel {} (p2p-list.patch):",
                    c.facts.kernel.release.empty() ? "of your release" : c.facts.kernel.release));
  lines.insert(lines.end(), {
                                "--- a/drivers/pci/p2pdma.c",
                                "+++ b/drivers/pci/p2pdma.c",
                                fmt::format("@@ -300,2 +300,{} @@", 2 + ids.size()),
                                " } pci_p2pdma_whitelist[] = {",
                            });
  for (const Wanted& wanted : ids) lines.push_back(entry_line(wanted));
  lines.emplace_back(" \t/* Intel Xeon E5/Core i7 */");
  lines.emplace_back("Apply it in the source of that kernel: patch -p1 < p2p-list.patch");
  if (c.kernel && c.kernel->release < kListHead) {
    lines.emplace_back(
        "This kernel's list begins otherwise: add the line by hand, at the head of "
        "pci_p2pdma_whitelist[].");
  }
}

void add_warning(const std::set<Wanted>& ids, Lines& lines) {
  for (const Wanted& wanted : ids) {
    lines.push_back(
        wanted.is_tested
            ? fmt::format("{}: upstream has tested this entry and ships it in a later release.",
                          to_string(wanted.id))
            : fmt::format("WARNING: {} is in no release. Forcing an untested bridge has corrupted "
                          "data in silence: without a passed data check do not use it.",
                          to_string(wanted.id)));
  }
}

void add_list_help(const Case& c, const Lines& fixes, Lines& lines) {
  std::set<Wanted> ids = wanted_ids(c);
  std::erase_if(ids, [&](const Wanted& wanted) {
    return wanted.corrupts || (!wanted.is_tested && !offers(fixes, "F18"));
  });
  if (ids.empty()) return;
  add_patch(c, ids, lines);
  add_warning(ids, lines);
}

void add_config(const Case& c, Lines& lines) {
  title(lines, "Kernel configuration:");
  lines.insert(lines.end(), {"CONFIG_PCI_P2PDMA=y", "CONFIG_HSA_AMD_P2P=y",
                             "CONFIG_DMABUF_MOVE_NOTIFY=y, where the kernel still has it"});
  lines.emplace_back("Module: amdgpu.pcie_p2p=1 (the default)");
  if (!c.facts.kernel.release.empty()) {
    lines.push_back(fmt::format("Show: grep -E 'P2PDMA|HSA_AMD_P2P' /boot/config-{}",
                                printable(c.facts.kernel.release, 60)));
  }
}

std::vector<std::string> redirecting_ports(const Case& c) {
  std::set<std::string> names;
  for (const Pair& pair : c.pairs) {
    for (const host::Function* port : pair.path.redirecting) names.insert(port->name);
  }
  return {names.begin(), names.end()};
}

void add_acs(const Case& c, const Lines& fixes, Lines& lines) {
  const Lines ports = redirecting_ports(c);
  if (ports.empty()) return;
  if (offers(fixes, "F11")) {
    title(lines, "For a test (as root, lost at reboot; reload the GPU driver before judging):");
    for (const std::string& port : ports) {
      lines.push_back(fmt::format("setpci -s {} ECAP_ACS+6.w=0000", port));
    }
  }
  title(lines, "On the kernel command line, to keep it:");
  lines.push_back(fmt::format("pci=disable_acs_redir={}", fmt::join(ports, ";")));
  lines.insert(lines.end(),
               {"Traps: devices are separated by ; (a comma ends the list) and GRUB wants the "
                "value quoted, for both shells.",
                "pci=noacs is not a mainline option; pcie_acs_override= does not clear redirect; "
                "iommu=pt does not either.",
                "Redirect off gives up isolation below these ports: not on a host that hands "
                "devices to virtual machines of others."});
}

void add_window_options(const Lines& fixes, Lines& lines) {
  if (offers(fixes, "F19")) {
    title(lines, "Window room for Resizable BARs:");
    lines.insert(lines.end(),
                 {"series \"PCI: Reserve prefetchable window headroom for Resizable BARs\" "
                  "(patchwork 520756, not merged as far as is known here)",
                  "It adds pci=no_rebar_reserve and pci=no_bar_demote, which turn its parts off."});
  }
  if (offers(fixes, "F13")) {
    title(lines, "pci=realloc:");
    lines.emplace_back(
        "sizes windows for the BARs present at boot, inside the host's windows; it enlarges no BAR "
        "and reserves nothing.");
  }
  if (offers(fixes, "F15")) {
    title(lines, "pci=nocrs:");
    lines.emplace_back(
        "ignores the host windows that the firmware declares: BARs may be placed over other "
        "devices.");
  }
}

void add_burn_in(Lines& lines) {
  title(lines, "Burn-in that must pass afterwards:");
  lines.insert(lines.end(),
               {"1. copy a known pattern of 64 MiB or more in each direction; the destination GPU "
                "compares it",
                "2. small and odd sizes", "3. a real collective with a known result",
                "4. the output of the real program against a run without peers",
                "Copying there and back again proves nothing: both ways may be wrong alike.",
                "Then: evener doctor --verify"});
}

}  // namespace

std::vector<std::string> kernel_help(const Case& c, const std::vector<std::string>& fixes) {
  static constexpr std::array<std::string_view, 2> kList = {"F17", "F18"};
  static constexpr std::array<std::string_view, 2> kAcs = {"F10", "F11"};
  Lines lines;
  if (offers_any(fixes, kList)) add_list_help(c, fixes, lines);
  if (offers(fixes, "F21") || !lines.empty()) add_config(c, lines);
  if (offers_any(fixes, kAcs)) add_acs(c, fixes, lines);
  add_window_options(fixes, lines);
  if (!lines.empty()) add_burn_in(lines);
  return lines;
}

}  // namespace evener::doctor
