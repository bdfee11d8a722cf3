#include "device/device_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"

namespace evener::device {
namespace {

constexpr size_t kShownMax = 60;  // of a name, in messages

std::string in_quotes(std::string_view name) { return "'" + printable(name, kShownMax) + "'"; }

Error bad_name(std::string_view name, std::string why) {
  return Error{.code = Code::invalid_argument,
               .doing = "open device",
               .where = in_quotes(name),
               .why = std::move(why),
               .remedy =
                   "devices are cpu:N, the cores of NUMA node N, or some of them: cpu:0[0-3] "
                   "or cpu:0[0,2-3]; and vulkan:N, a card by number, PCI address or a part of its "
                   "name; `evener devices` lists them"};
}

std::optional<size_t> read_number(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // One that is too large is one all the same.
  if (error == std::errc::result_out_of_range) number = SIZE_MAX;
  const bool is_read = error == std::errc() || error == std::errc::result_out_of_range;
  if (!is_read || end != text.data() + text.size()) return {};
  return number;
}

// "2" or "4-7" is added to `cores`.
Status read_range(std::string_view name, std::string_view text, std::vector<size_t>& cores) {
  const size_t dash = text.find('-');
  const auto first = read_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : read_number(text.substr(dash + 1));
  if (text.empty()) return bad_name(name, "a core is missing in its brackets");
  if (!first || !last) {
    return bad_name(name,
                    fmt::format("{} is neither a core nor a range of cores", in_quotes(text)));
  }
  if (*first > *last) {
    return bad_name(name, fmt::format("the range {} is reversed", in_quotes(text)));
  }
  if (*last >= kCoresMax) {
    return bad_name(name, fmt::format("{} goes beyond core {}, the last that can be named",
                                      in_quotes(text), kCoresMax - 1));
  }
  for (size_t core = *first; core <= *last; ++core) {
    const auto at = std::ranges::lower_bound(cores, core);
    if (at != cores.end() && *at == core) {
      return bad_name(name, fmt::format("core {} is in it twice", core));
    }
    cores.insert(at, core);
  }
  return {};
}

// What stands between the brackets.
Status read_cores(std::string_view name, std::string_view text, std::vector<size_t>& cores) {
  if (text.empty()) return bad_name(name, "there are no cores in its brackets");
  for (;;) {
    const size_t comma = text.find(',');
    RETURN_IF_ERROR(read_range(name, text.substr(0, comma), cores));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

// What stands behind "cpu:".
Result<DeviceName> read_cpu_name(std::string_view text, std::string_view rest) {
  const size_t bracket = rest.find('[');
  const auto node = read_number(rest.substr(0, bracket));
  if (!node) return bad_name(text, "there is no such kind of device");
  DeviceName name;
  name.numa_node = *node;
  if (*node >= kNodesMax) {
    return bad_name(text, fmt::format("node {} is the last that can be named", kNodesMax - 1));
  }
  if (bracket == std::string_view::npos) return name;
  if (!rest.ends_with(']')) return bad_name(text, "its brackets do not end");
  const std::string_view inside = rest.substr(bracket + 1, rest.size() - bracket - 2);
  RETURN_IF_ERROR(read_cores(text, inside, name.cores));
  return name;
}

// What stands behind "vulkan:". Words with the mark of a part in them could not be written again.
Result<DeviceName> read_vulkan_name(std::string_view text, std::string_view rest) {
  DeviceName name{.kind = DeviceKind::vulkan};
  const size_t mark = rest.find('#');
  const std::string_view words = rest.substr(0, mark);
  if (words.empty()) return bad_name(text, "it does not say which card");
  if (words.size() > kAdapterWordsMax) {
    return bad_name(text, fmt::format("a card's name has at most {} bytes", kAdapterWordsMax));
  }
  if (printable(words, words.size()) != words) {
    return bad_name(text, "there are characters in it that no card's name has");
  }
  name.adapter = words;
  if (mark == std::string_view::npos) return name;
  const std::string_view number = rest.substr(mark + 1);
  const auto part = read_number(number);
  if (!part) {
    return bad_name(text, fmt::format("{} behind the # is no number", in_quotes(number)));
  }
  if (*part >= kPartsMax) {
    return bad_name(text, fmt::format("#{} is the last that can be named", kPartsMax - 1));
  }
  name.part = *part;
  return name;
}

// The first core that both have.
std::optional<size_t> shared_core(const DeviceName& a, const DeviceName& b) {
  if (a.kind != DeviceKind::cpu || b.kind != DeviceKind::cpu) return {};
  if (a.numa_node != b.numa_node) return {};
  if (a.cores.empty() || b.cores.empty()) {
    if (!a.cores.empty()) return a.cores.front();
    return b.cores.empty() ? 0 : b.cores.front();
  }
  for (const size_t core : a.cores) {
    if (std::ranges::binary_search(b.cores, core)) return core;
  }
  return {};
}

}  // namespace

Result<DeviceName> parse_device_name(std::string_view text) {
  constexpr std::string_view kCpu = "cpu:";
  constexpr std::string_view kVulkan = "vulkan:";
  if (text.empty()) return bad_name(text, "a name is empty");
  if (text.starts_with(kCpu)) return read_cpu_name(text, text.substr(kCpu.size()));
  if (text.starts_with(kVulkan)) return read_vulkan_name(text, text.substr(kVulkan.size()));
  return bad_name(text, "there is no such kind of device");
}

std::string to_string(const DeviceName& name) {
  if (name.kind == DeviceKind::vulkan) {
    return "vulkan:" + name.adapter + (name.part == 0 ? "" : fmt::format("#{}", name.part));
  }
  std::string text = fmt::format("cpu:{}", name.numa_node);
  for (size_t i = 0; i < name.cores.size(); ++i) {
    const size_t first = name.cores[i];
    while (i + 1 < name.cores.size() && name.cores[i + 1] == name.cores[i] + 1) ++i;
    text += text.find('[') == std::string::npos ? '[' : ',';
    text += fmt::format("{}", first);
    if (name.cores[i] > first) text += fmt::format("-{}", name.cores[i]);
  }
  return name.cores.empty() ? text : text + ']';
}

std::vector<std::string> split_device_list(std::string_view text) {
  std::vector<std::string> names(1);
  bool in_brackets = false;
  for (const char c : text) {
    if (c == ',' && !in_brackets) {
      names.emplace_back();
      continue;
    }
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
    names.back() += c;
  }
  return names;
}

Status check_no_core_twice(const std::vector<std::string>& names) {
  std::vector<DeviceName> parsed;
  for (const std::string& text : names) {
    ASSIGN_OR_RETURN(const DeviceName name, parse_device_name(text));
    for (size_t i = 0; i < parsed.size(); ++i) {
      if (parsed[i] == name) return bad_name(text, "it is named twice");
      const auto core = shared_core(parsed[i], name);
      if (!core) continue;
      return bad_name(text, fmt::format("it shares core {} of node {} with {}", *core,
                                        name.numa_node, in_quotes(names[i])));
    }
    parsed.push_back(name);
  }
  return {};
}

}  // namespace evener::device
