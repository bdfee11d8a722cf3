// What sysfs and config space say of each PCI function.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "host/ascii.h"
#include "host/capture.h"
#include "host/pci_names.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr size_t kConfigBytesMax = 4096;

// Plain files; several lines are joined by ';'.
constexpr std::array<const char*, 31> kFields = {"vendor",
                                                 "device",
                                                 "subsystem_vendor",
                                                 "subsystem_device",
                                                 "class",
                                                 "revision",
                                                 "label",
                                                 "numa_node",
                                                 "local_cpulist",
                                                 "enable",
                                                 "power_state",
                                                 "max_link_speed",
                                                 "max_link_width",
                                                 "dma_mask_bits",
                                                 "consistent_dma_mask_bits",
                                                 "resource",
                                                 "resource0_resize",
                                                 "resource1_resize",
                                                 "resource2_resize",
                                                 "resource3_resize",
                                                 "resource4_resize",
                                                 "resource5_resize",
                                                 "mem_info_vram_total",
                                                 "mem_info_vis_vram_total",
                                                 "aer_dev_correctable",
                                                 "aer_dev_nonfatal",
                                                 "aer_dev_fatal",
                                                 "d3cold_allowed",
                                                 "product_name",
                                                 "vbios_version",
                                                 "boot_vga"};

// Those that ask the device itself, and so would wake it.
constexpr std::array<const char*, 3> kWakingFields = {"current_link_speed", "current_link_width",
                                                      "pp_dpm_pcie"};

std::string joined_lines(std::string_view text) {
  std::string joined;
  each_line(text, [&](std::string_view line) {
    if (!joined.empty()) joined += ';';
    joined += trim(line);
  });
  return joined;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Adds lines "FUNCTION/FIELD<TAB>VALUE" to a text.
class FunctionLines {
 public:
  FunctionLines(const Capture& capture, const std::string& function, std::string& out)
      : tree_(capture.tree), function_(function), path_(function_path(function)), out_(out) {}

  void add(std::string_view field, std::string_view value) {
    out_ += fmt::format("{}/{}\t{}\n", function_, field, value);
  }
  void add_file(std::string_view field, const std::string& file) {
    const auto text = tree_.read(path_ + "/" + file, 65536);
    if (text) add(field, joined_lines(*text));
  }
  void add_link(const char* name) {
    if (const auto target = tree_.link(path_ + "/" + name)) add(name, last_part(*target));
  }
  // The way from the root bus, as the kernel's own folder has it.
  void add_way() {
    const std::string way = tree_.link(path_).value_or("");
    const std::string_view marker = "devices/pci";
    const size_t at = way.find(marker);
    if (at != std::string::npos) add("path", std::string_view(way).substr(at + 8));
  }
  void add_power_limit() {
    for (const std::string& monitor : tree_.list(path_ + "/hwmon")) {
      add_file("power1_cap", "hwmon/" + monitor + "/power1_cap");
      add_file("power1_cap_max", "hwmon/" + monitor + "/power1_cap_max");
    }
  }

 private:
  const FileTree& tree_;
  const std::string& function_;
  std::string path_;
  std::string& out_;
};

// "0000:05:00" -> "3", as the board labels its slots.
std::map<std::string, std::string> slots(const FileTree& tree) {
  std::map<std::string, std::string> names;
  for (const std::string& name : tree.list("sys/bus/pci/slots")) {
    const auto address = tree.read_line("sys/bus/pci/slots/" + name + "/address");
    if (address) names.emplace(*address, name);
  }
  return names;
}

std::string without_function_number(const std::string& function) {
  return function.substr(0, function.rfind('.'));
}

uint32_t number_in(const FileTree& tree, const std::string& path) {
  const std::string text = tree.read_line(path).value_or("");
  uint32_t number = 0;
  if (text.starts_with("0x"))
    std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  return number;
}

// As `lspci -Dnn` heads a function.
std::string heading(const FileTree& tree, const PciNames& names, const std::string& function) {
  const std::string path = function_path(function);
  const uint32_t class_code = number_in(tree, path + "/class");
  const PciId id = {.vendor = static_cast<uint16_t>(number_in(tree, path + "/vendor")),
                    .device = static_cast<uint16_t>(number_in(tree, path + "/device"))};
  const uint32_t revision = number_in(tree, path + "/revision");
  std::string line =
      fmt::format("{} {}: {}", function, names.of_class(static_cast<uint16_t>(class_code >> 8)),
                  names.of_device(id));
  if (revision != 0) line += fmt::format(" (rev {:02x})", revision);
  return line + "\n";
}

std::string hex_lines(std::string_view config) {
  std::string text;
  for (size_t i = 0; i < config.size(); ++i) {
    if (i % 16 == 0) text += fmt::format("{}{:02x}:", i == 0 ? "" : "\n", i);
    text += fmt::format(" {:02x}", static_cast<unsigned char>(config[i]));
  }
  return text + "\n";
}

}  // namespace

bool is_asleep(const FileTree& tree, const std::string& function) {
  const std::string path = function_path(function);
  if (tree.read_line(path + "/power_state").value_or("").starts_with("D3")) return true;
  const auto status = tree.read_line(path + "/power/runtime_status");
  return status == "suspended" || status == "suspending";
}

bool is_gpu(const FileTree& tree, const std::string& function) {
  const std::string text = tree.read_line(function_path(function) + "/class").value_or("");
  return text.starts_with("0x03") || text.starts_with("0x12");
}

bool is_gpu_or_bridge(const FileTree& tree, const std::string& function) {
  const std::string text = tree.read_line(function_path(function) + "/class").value_or("");
  return text.starts_with("0x06") || is_gpu(tree, function);
}

void collect_sysfs(Capture& capture) {
  const std::map<std::string, std::string> slot_names = slots(capture.tree);
  std::string text;
  for (const std::string& function : capture.functions) {
    FunctionLines lines(capture, function, text);
    for (const char* field : kFields) lines.add_file(field, field);
    lines.add_file("runtime_status", "power/runtime_status");
    if (!is_asleep(capture.tree, function)) {
      for (const char* field : kWakingFields) lines.add_file(field, field);
      lines.add_power_limit();
    }
    lines.add_link("driver");
    lines.add_link("iommu_group");
    lines.add_file("iommu_type", "iommu_group/type");
    const auto slot = slot_names.find(without_function_number(function));
    if (slot != slot_names.end()) lines.add("slot", slot->second);
    lines.add_way();
  }
  capture.add("sysfs.tsv", text);
}

void collect_config_space(Capture& capture) {
  const PciNames names;
  std::string text;
  size_t num_short = 0;
  for (const std::string& function : capture.functions) {
    text += heading(capture.tree, names, function);
    if (is_asleep(capture.tree, function)) {
      if (is_gpu_or_bridge(capture.tree, function))
        capture.miss("config space and link of " + function, "it sleeps, and reading would wake it",
                     "capture again while it works");
    } else if (const auto config =
                   capture.tree.read(function_path(function) + "/config", kConfigBytesMax)) {
      text += hex_lines(*config);
      if (config->size() <= 64) ++num_short;
    }
    text += "\n";
  }
  if (num_short > 0)
    capture.miss(fmt::format("config space of {} functions beyond its first 64 bytes", num_short),
                 "the kernel shows it to root only", "capture as root (sudo evener snapshot)");
  capture.add("lspci.txt", text);
}

void LoadSamples::take(const Capture& capture) {
  for (const std::string& function : capture.functions) {
    if (is_asleep(capture.tree, function)) continue;
    const auto speed = capture.tree.read_line(function_path(function) + "/current_link_speed");
    const auto width = capture.tree.read_line(function_path(function) + "/current_link_width");
    if (!speed || !width) continue;
    double gts = 0;
    double lanes = 0;
    std::from_chars(speed->data(), speed->data() + speed->size(), gts);
    std::from_chars(width->data(), width->data() + width->size(), lanes);
    Reading& fastest = fastest_[function];
    if (gts * lanes >= fastest.rate) fastest = {*speed, *width, gts * lanes};
  }
}

void LoadSamples::add_to(Capture& capture) const {
  std::string text;
  for (const auto& [function, reading] : fastest_)
    text += fmt::format("{0}/current_link_speed\t{1}\n{0}/current_link_width\t{2}\n", function,
                        reading.speed, reading.width);
  capture.add("load/sysfs.tsv", text);
}

}  // namespace evener::host
