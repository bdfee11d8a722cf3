// What is said of the whole machine: kernel, CPU, board, memory map.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/version.h"
#include "host/capture.h"
#include "host/gzip.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr const char* kMountProc = "mount /proc, or capture on the host itself";

// Options of these families decide something here; the others are only counted, for they may name
// disks, users and servers.
constexpr std::array<std::string_view, 26> kOptionPrefixes = {"pci",
                                                              "iommu",
                                                              "intel_iommu",
                                                              "amd_iommu",
                                                              "amdgpu",
                                                              "nvidia",
                                                              "nouveau",
                                                              "xe",
                                                              "i915",
                                                              "radeon",
                                                              "vfio",
                                                              "modprobe",
                                                              "module_blacklist",
                                                              "swiotlb",
                                                              "mem",
                                                              "acpi",
                                                              "efi",
                                                              "numa",
                                                              "norebar",
                                                              "nomodeset",
                                                              "video",
                                                              "intremap",
                                                              "ivrs",
                                                              "kfd",
                                                              "hsa",
                                                              "modprobe.blacklist"};

constexpr std::array<std::string_view, 12> kConfigWords = {
    "PCI_P2PDMA",  "HSA_AMD",     "DMABUF_MOVE_NOTIFY", "DEVICE_PRIVATE",
    "ZONE_DEVICE", "PCI_REALLOC", "IOMMU_DEFAULT",      "INTEL_IOMMU",
    "AMD_IOMMU",   "PCIEASPM",    "DRM_AMDGPU",         "DRM_XE"};

constexpr std::array<std::string_view, 9> kBoardFields = {
    "sys_vendor",    "product_name", "product_version", "board_vendor", "board_name",
    "board_version", "bios_vendor",  "bios_version",    "bios_date"};

constexpr std::array<std::string_view, 5> kCpuFields = {"vendor_id", "cpu family", "model",
                                                        "model name", "address sizes"};

std::string architecture() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "";
}

bool matters(std::string_view option) {
  return std::ranges::any_of(kOptionPrefixes,
                             [&](std::string_view prefix) { return option.starts_with(prefix); });
}

// Splits at spaces outside double quotes, as the kernel does.
std::vector<std::string> split_options(std::string_view line) {
  std::vector<std::string> options(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const bool ends = !quoted && (c == ' ' || c == '\t' || c == '\n');
    if (!ends) options.back() += c;
    if (ends && !options.back().empty()) options.emplace_back();
  }
  if (options.back().empty()) options.pop_back();
  return options;
}

std::optional<std::string> kernel_config(const Capture& capture) {
  if (const auto packed = capture.tree.read("proc/config.gz")) {
    if (auto text = gunzip(*packed, FileTree::kSizeMax)) return text;
  }
  for (const std::string& path : {"boot/config-" + capture.kernel_release,
                                  "lib/modules/" + capture.kernel_release + "/config",
                                  "usr/lib/modules/" + capture.kernel_release + "/config"}) {
    if (auto text = capture.tree.read(path)) return text;
  }
  return std::nullopt;
}

bool is_config_of_interest(std::string_view line) {
  return std::ranges::any_of(kConfigWords, [&](std::string_view word) {
    return line.starts_with("CONFIG_" + std::string(word)) ||
           line.starts_with("# CONFIG_" + std::string(word));
  });
}

// What /proc/cpuinfo says once and what is counted over its processors.
struct Cpu {
  std::string text;
  std::set<std::string, std::less<>> seen;
  std::set<std::string, std::less<>> sockets;
  bool has_flags = false;
  bool hypervisor = false;

  void take(std::string_view name, std::string_view value) {
    if (name == "physical id") sockets.emplace(value);
    if (name == "flags") {
      has_flags = true;
      hypervisor = hypervisor || (" " + std::string(value) + " ").contains(" hypervisor ");
    }
    const bool wanted = std::ranges::find(kCpuFields, name) != kCpuFields.end();
    if (wanted && seen.emplace(name).second) text += fmt::format("{}: {}\n", name, value);
  }
};

}  // namespace

void collect_manifest(Capture& capture) {
  std::string text = "format=p2p-snapshot 1\n";
  text += fmt::format("euid={}\n", ::geteuid());
  if (!capture.kernel_release.empty()) text += fmt::format("kernel={}\n", capture.kernel_release);
  text += fmt::format("arch={}\nmasked=1\nmade_by=evener {}\n", architecture(), kVersion);
  capture.add("MANIFEST", text);
}

void collect_command_line(Capture& capture) {
  const auto line = capture.read("proc/cmdline", "the kernel's command line", kMountProc);
  if (!line) return;
  std::string text;
  size_t num_others = 0;
  for (const std::string& option : split_options(*line)) {
    if (matters(option)) {
      text += option + "\n";
    } else {
      ++num_others;
    }
  }
  capture.add("cmdline.txt", fmt::format("{}other_options={}\n", text, num_others));
}

void collect_kernel_config(Capture& capture) {
  const auto config = kernel_config(capture);
  if (!config) {
    capture.miss(
        "the options that the kernel was built with",
        "there is neither /proc/config.gz nor a readable /boot/config-" + capture.kernel_release,
        "capture as root, or install the kernel's config file");
    return;
  }
  std::string text;
  each_line(*config, [&](std::string_view line) {
    if (is_config_of_interest(line)) text += std::string(line) + "\n";
  });
  capture.add("kconfig.txt", text);
}

void collect_cpu(Capture& capture) {
  const auto info = capture.read("proc/cpuinfo", "the CPU", kMountProc);
  if (!info) return;
  Cpu cpu;
  each_line(*info, [&](std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    cpu.take(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  });
  if (!cpu.sockets.empty()) cpu.text += fmt::format("sockets: {}\n", cpu.sockets.size());
  if (cpu.has_flags) cpu.text += fmt::format("hypervisor: {}\n", cpu.hypervisor ? 1 : 0);
  capture.add("cpu.txt", cpu.text);
}

void collect_board(Capture& capture) {
  std::string text;
  for (const std::string_view field : kBoardFields) {
    const auto value = capture.tree.read_line("sys/class/dmi/id/" + std::string(field));
    if (value && !value->empty()) text += fmt::format("{}\t{}\n", field, *value);
  }
  capture.add("dmi.txt", text);
}

void collect_address_map(Capture& capture) {
  const auto map = capture.read("proc/iomem", "the map of addresses (/proc/iomem)",
                                "capture as root on the host itself");
  if (map) capture.add("iomem.txt", *map);
}

void collect_numa(Capture& capture) {
  const std::string folder = "sys/devices/system/node";
  std::string text;
  for (const std::string& node : capture.tree.list(folder)) {
    if (!node.starts_with("node")) continue;
    const auto cpus = capture.tree.read_line(folder + "/" + node + "/cpulist");
    const auto distances = capture.tree.read_line(folder + "/" + node + "/distance");
    if (cpus || distances)
      text += fmt::format("{}\t{}\t{}\n", node, cpus.value_or(""), distances.value_or(""));
  }
  capture.add("numa.tsv", text);
}

}  // namespace evener::host
