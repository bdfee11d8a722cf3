#include "host/kernel_log.h"

#include <algorithm>
#include <span>

#include "host/limits.h"
#include "host/log_devices.h"

namespace evener::host {
namespace {

// Rules look for these; the log of a machine in trouble may repeat itself for hours.
constexpr size_t kLinesMax = 2'000;

constexpr std::string_view kThatMatter[] = {
    "not supported by the chipset",
    "cannot be used for peer-to-peer DMA",
    "whitelist",
    "P2PDMA",
    "ACS redirect",
    "disable_acs_redir",
    "HMAT-described",
    "can't assign",
    "no space",
    "failed to assign",
    "was not released",
    "Not enough PCI address space",
    "Detected VRAM",
    "PCI rejects atomics",
    "BAR1 is 0M",
    "BAR 1 is 0M",
    "Unknown option",
    "iommu=pt",
    "trn=2 ACK",
    "Default domain type",
    "available PCIe bandwidth",
    "AER:",
    "PCIe Bus Error",
    "_kbusCreateStaticBar1",
    "mapping of buffer",
    "NVRM:",
    "root bus resource [mem",
    "bridge window [mem",
    "Hypervisor detected",
    "IOMMU enabled",
    "AMD-Vi:",
    "preserve boot config",
    "Xid",
};

constexpr std::string_view kBeginnings[] = {"pci ",
                                            "pci_bus ",
                                            "pcieport ",
                                            "amdgpu ",
                                            "amdgpu:",
                                            "kfd ",
                                            "kfd:",
                                            "[drm]",
                                            "NVRM:",
                                            "nvidia ",
                                            "nvidia:",
                                            "xe ",
                                            "i915 ",
                                            "iommu:",
                                            "DMAR:",
                                            "AMD-Vi:",
                                            "PCI: ",
                                            "DMI: ",
                                            "Linux version ",
                                            "Kernel command line: ",
                                            "Hypervisor detected: ",
                                            "smpboot: "};

bool contains_any(std::string_view line, std::span<const std::string_view> list) {
  return std::ranges::any_of(
      list, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

bool starts_with_any(std::string_view line, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view word) { return line.starts_with(word); });
}

// "[   12.253269] "
std::string_view without_time(std::string_view line) {
  if (!line.starts_with("[")) return line;
  const auto inside = between(line, "[", "]");
  if (!inside || inside->find_first_not_of("0123456789. ") != std::string_view::npos) return line;
  return trim(line.substr(inside->size() + 2));
}

// "DMI: Dell Inc. Precision Tower 7910/0215PR, BIOS A34 10/19/2020"
void read_dmi(std::string_view text, Machine& machine) {
  machine.board = clean(trim(before(text, "/")));
  const auto bios = after(text, ", BIOS ");
  if (!bios) return;
  std::string_view rest = *bios;
  const std::string_view version = take_word(rest);
  machine.bios = clean(version);
  if (!trim(rest).empty()) machine.bios += " (" + clean(trim(rest)) + ")";
}

std::optional<unsigned> small(std::string_view text) {
  const auto value = leading_uint(text, 16);
  if (!value || *value > 0xfff) return {};
  return static_cast<unsigned>(*value);
}

// "smpboot: CPU0: Intel(R) Xeon(R) CPU E5-2683 v4 @ 2.10GHz (family: 0x6, model: 0x4f, stepping:
// 0x1)"
void read_cpu(std::string_view text, Machine& machine) {
  machine.cpu = clean(trim(before(text, " (family:")));
  if (const auto family = after(text, "family: ")) machine.cpu_family = small(*family);
  if (const auto model = after(text, "model: ")) machine.cpu_model = small(*model);
  if (machine.cpu.find("Intel") != std::string::npos) machine.cpu_vendor = "GenuineIntel";
  if (machine.cpu.find("AMD") != std::string::npos) machine.cpu_vendor = "AuthenticAMD";
}

// "iommu: Default domain type: Translated (set via kernel command line)"
std::optional<IommuMode> domain_of(std::string_view text) {
  if (text.starts_with("Translated")) return IommuMode::translated;
  if (text.starts_with("Passthrough")) return IommuMode::identity;
  return {};
}

// "pci_bus 0000:16: root bus resource [mem 0x10000000000-0x13fffffffff window]". The kernel ends
// the list of a bus with its bus numbers.
bool read_root(std::string_view message, WindowsByBus& roots) {
  const auto resource = after(message, ": root bus resource [");
  if (!resource || !message.starts_with("pci_bus ")) return false;
  const auto bus = canonical_bus(before(message.substr(8), ": root"));
  if (!bus) return false;
  HostWindows& windows = roots[*bus];
  if (resource->starts_with("bus ")) windows.is_whole = true;
  if (!resource->starts_with("mem ")) return true;
  const auto range = parse_range(before(before(resource->substr(4), "]"), " "));
  if (range && range->size_bytes() > 1) windows.ranges.push_back(*range);
  return true;
}

void read_machine(std::string_view message, KernelLog& log) {
  if (const auto dmi = after(message, "DMI: "); dmi && message.starts_with("DMI: ")) {
    read_dmi(*dmi, log.machine);
  } else if (const auto version = after(message, "Linux version ")) {
    log.release = clean(before(*version, " "));
  } else if (const auto options = after(message, "Kernel command line: ")) {
    log.command_line = clean(*options);
  } else if (message.find("Hypervisor detected: ") != std::string_view::npos) {
    log.machine.guest = true;
  } else if (const auto cpu = after(message, "smpboot: CPU0: ")) {
    read_cpu(*cpu, log.machine);
  } else if (const auto option = after(message, "PCI: Unknown option ")) {
    log.unknown_options.push_back(clean(message));
  } else if (const auto domain = after(message, "Default domain type: ")) {
    log.default_domain = domain_of(trim(*domain));
  }
}

}  // namespace

std::string_view log_message(std::string_view line) {
  std::string_view text = trim(line);
  // journalctl and syslog: "Nov 30 07:00:00 name kernel: [    1.2] pci ..."
  if (const auto message = after(before(text, "\""), " kernel: ")) text = trim(*message);
  return without_time(text);
}

bool is_log_line(std::string_view line) {
  const std::string_view text = trim(line);
  const std::string_view message = log_message(line);
  return message.size() < text.size() || starts_with_any(message, kBeginnings);
}

KernelLog read_kernel_log(std::string_view text) {
  KernelLog log;
  LogDevices devices(log.functions);
  each_line(text, [&](std::string_view line) {
    const std::string_view message = log_message(line);
    if (message.empty()) return;
    if (!read_root(message, log.roots)) {
      read_machine(message, log);
      devices.read(message);
    }
    if (log.lines.size() < kLinesMax && contains_any(message, kThatMatter)) {
      log.lines.push_back(clean(message));
    }
  });
  log.has_iommu_groups = devices.has_iommu_groups();
  return log;
}

}  // namespace evener::host
