#include "host/machine_text.h"

#include <algorithm>
#include <map>

#include "host/limits.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

// "model name	: Intel(R) ..." without the blanks around both.
struct Pair {
  std::string_view key;
  std::string_view value;
};

std::optional<Pair> parse_pair(std::string_view line, char separator) {
  const size_t at = line.find(separator);
  if (at == std::string_view::npos) return {};
  return Pair{trim(line.substr(0, at)), trim(line.substr(at + 1))};
}

std::optional<unsigned> number_up_to(unsigned max, std::string_view text) {
  const auto value = leading_uint(text);
  if (!value || *value > max) return {};
  return static_cast<unsigned>(*value);
}

using Read = void (*)(std::string_view value, Machine& machine);

// cpu.txt and /proc/cpuinfo say "cpu family", lscpu "CPU family".
constexpr std::pair<std::string_view, Read> kCpuFields[] = {
    {"vendor_id", [](auto v, Machine& m) { m.cpu_vendor = clean(v); }},
    {"Vendor ID", [](auto v, Machine& m) { m.cpu_vendor = clean(v); }},
    {"model name", [](auto v, Machine& m) { m.cpu = clean(v); }},
    {"Model name", [](auto v, Machine& m) { m.cpu = clean(v); }},
    {"cpu family", [](auto v, Machine& m) { m.cpu_family = number_up_to(kCpuNumberMax, v); }},
    {"CPU family", [](auto v, Machine& m) { m.cpu_family = number_up_to(kCpuNumberMax, v); }},
    {"model", [](auto v, Machine& m) { m.cpu_model = number_up_to(kCpuNumberMax, v); }},
    {"Model", [](auto v, Machine& m) { m.cpu_model = number_up_to(kCpuNumberMax, v); }},
    {"address sizes",
     [](auto v, Machine& m) { m.physical_address_bits = number_up_to(kAddressBitsMax, v); }},
    {"Address sizes",
     [](auto v, Machine& m) { m.physical_address_bits = number_up_to(kAddressBitsMax, v); }},
    {"sockets",
     [](auto v, Machine& m) {
       if (leading_uint(v).value_or(0) > 0) m.num_sockets = number_up_to(kSocketsMax, v);
     }},
    {"Socket(s)",
     [](auto v, Machine& m) {
       if (leading_uint(v).value_or(0) > 0) m.num_sockets = number_up_to(kSocketsMax, v);
     }},
    {"hypervisor", [](auto v, Machine& m) { m.guest = v == "1"; }},
    {"Hypervisor vendor", [](auto, Machine& m) { m.guest = true; }},
};

const std::pair<std::string_view, Read>* cpu_field(std::string_view key) {
  const auto at = std::ranges::find(kCpuFields, key, &std::pair<std::string_view, Read>::first);
  return at == std::end(kCpuFields) ? nullptr : at;
}

// What makers of boards leave in fields that the maker of the machine should have filled.
bool is_filler(std::string_view text) {
  constexpr std::string_view kFillers[] = {"",
                                           "System Product Name",
                                           "System manufacturer",
                                           "To Be Filled By O.E.M.",
                                           "To be filled by O.E.M.",
                                           "Default string",
                                           "All Series",
                                           "INVALID",
                                           "Not Specified",
                                           "System Version"};
  return std::ranges::find(kFillers, text) != std::end(kFillers);
}

std::string joined(std::string_view a, std::string_view b) {
  if (is_filler(a)) return is_filler(b) ? std::string() : clean(b);
  if (is_filler(b)) return clean(a);
  return clean(a) + " " + clean(b);
}

bool matters(std::string_view option) {
  constexpr std::string_view kSkipped[] = {
      "other_options=", "BOOT_IMAGE=", "root=", "resume=", "initrd=", "cryptdevice=", "rd.luks."};
  return std::ranges::none_of(kSkipped,
                              [&](std::string_view prefix) { return option.starts_with(prefix); });
}

// "/sys/module/amdgpu/parameters/pcie_p2p" is "amdgpu.pcie_p2p", ".../version" "amdgpu.version".
std::string module_name(std::string_view path) {
  const auto rest = after(path, "/module/");
  if (!rest) return {};
  const std::string_view last = rest->substr(rest->rfind('/') + 1);
  return clean(before(*rest, "/")) + "." + clean(last);
}

std::string lower_flag(std::string_view value) {
  if (value == "Y") return "y";
  return value == "N" ? "n" : clean(value);
}

std::optional<Setting> parse_config(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.starts_with("# CONFIG_") && text.ends_with(" is not set")) {
    return Setting{clean(before(text.substr(2), " ")), "n"};
  }
  const auto pair = parse_pair(text, '=');
  if (!pair || !pair->key.starts_with("CONFIG_")) return {};
  return Setting{clean(pair->key), clean(pair->value)};
}

}  // namespace

void read_cpu(std::string_view text, Machine& machine) {
  each_line(text, [&](std::string_view line) {
    const auto pair = parse_pair(line, ':');
    const auto* field = pair ? cpu_field(pair->key) : nullptr;
    if (field != nullptr) field->second(pair->value, machine);
  });
}

bool is_cpu_line(std::string_view line) {
  const auto pair = parse_pair(line, ':');
  return pair && cpu_field(pair->key) != nullptr;
}

void read_dmi(std::string_view text, Machine& machine) {
  std::map<std::string_view, std::string_view> fields;
  each_line(text, [&](std::string_view line) {
    if (const auto pair = parse_pair(line, '\t')) fields[pair->key] = pair->value;
  });
  const bool is_whole_machine = !is_filler(fields["product_name"]);
  machine.board = is_whole_machine ? joined(fields["sys_vendor"], fields["product_name"])
                                   : joined(fields["board_vendor"], fields["board_name"]);
  machine.bios = clean(fields["bios_version"]);
  if (!fields["bios_date"].empty()) machine.bios += " (" + clean(fields["bios_date"]) + ")";
}

std::vector<Setting> read_kernel_config(std::string_view text, bool is_whole) {
  std::map<std::string, std::string> settings;
  each_line(text, [&](std::string_view line) {
    if (auto setting = parse_config(line)) {
      settings.insert_or_assign(std::move(setting->name), std::move(setting->value));
    }
  });
  if (is_whole && !settings.empty()) {
    for (const char* name : {"CONFIG_PCI_P2PDMA", "CONFIG_HSA_AMD", "CONFIG_HSA_AMD_P2P"}) {
      settings.try_emplace(name, "n");
    }
  }
  std::vector<Setting> list;
  for (auto& [name, value] : settings) list.push_back({name, value});
  return list;
}

bool is_config_line(std::string_view line) { return parse_config(line).has_value(); }

std::string read_command_line(std::string_view text) {
  std::string joined_options;
  each_line(text, [&](std::string_view line) {
    for (const std::string_view option : words(line)) {
      if (!matters(option)) continue;
      if (!joined_options.empty()) joined_options += ' ';
      joined_options += clean(option);
    }
  });
  return joined_options;
}

bool is_command_line(std::string_view line) { return trim(line).starts_with("BOOT_IMAGE="); }

std::vector<Setting> read_modules(std::string_view text) {
  std::map<std::string, std::string> settings;
  each_line(text, [&](std::string_view line) {
    const auto pair = parse_pair(line, '\t');
    if (!pair) return;
    if (pair->key == "/proc/driver/nvidia/params") {
      if (const auto inner = parse_pair(pair->value, ':')) {
        settings["nvidia." + clean(inner->key)] = clean(inner->value);
      }
    } else if (pair->key == "/proc/driver/nvidia/version") {
      if (pair->value.starts_with("NVRM")) settings["nvidia.module"] = clean(pair->value);
    } else if (std::string name = module_name(pair->key); !name.empty()) {
      settings[std::move(name)] = lower_flag(pair->value);
    }
  });
  std::vector<Setting> list;
  for (auto& [name, value] : settings) list.push_back({name, value});
  return list;
}

std::vector<NumaNode> read_nodes(std::string_view text) {
  std::vector<NumaNode> nodes;
  each_line(text, [&](std::string_view line) {
    const auto parts = split(line, '\t');
    if (!parts.front().starts_with("node")) return;
    const auto number = number_up_to(kNodesMax, parts.front().substr(4));
    if (!number || nodes.size() > 1024) return;
    NumaNode& node = nodes.emplace_back();
    node.node = *number;
    if (parts.size() > 1) node.cpus = clean(trim(parts[1]));
    if (parts.size() < 3) return;
    for (const std::string_view word : words(parts[2])) {
      if (const auto distance = number_up_to(kNodesMax, word); distance && *distance < 256) {
        node.distances.push_back(*distance);
      }
    }
  });
  return nodes;
}

std::string_view manifest_value(std::string_view text, std::string_view key) {
  std::string_view value;
  each_line(text, [&](std::string_view line) {
    const auto pair = parse_pair(line, '=');
    if (pair && pair->key == key) value = pair->value;
  });
  return value;
}

}  // namespace evener::host
