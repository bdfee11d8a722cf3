#include <fmt/format.h>

#include "host/host_windows.h"
#include "host/kernel_log.h"
#include "host/lspci_text.h"
#include "host/machine_text.h"
#include "host/snapshot.h"
#include "host/sysfs_text.h"
#include "host/text_lines.h"
#include "host/tools_text.h"

namespace evener::host {
namespace {

// The file of a snapshot that a line belongs to; empty where only its neighbours tell.
std::string_view file_of(std::string_view line) {
  if (is_log_line(line)) return "dmesg.txt";
  if (is_sysfs_line(line)) return "sysfs.tsv";
  if (is_tree_line(line)) return "lspci-tree.txt";
  if (is_iomem_line(line)) return "iomem.txt";
  if (is_config_line(line)) return "kconfig.txt";
  if (is_command_line(line)) return "cmdline.txt";
  if (is_cpu_line(line)) return "cpu.txt";
  return {};
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

Error no_text(std::string origin, std::string why, std::string remedy) {
  return {.code = Code::corrupt,
          .doing = "read the facts of a machine",
          .where = std::move(origin),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

// People quote what they paste.
std::string_view without_quote(std::string_view line) {
  while (line.starts_with("> ")) line.remove_prefix(2);
  return line;
}

void append(std::string& file, std::string_view line) {
  file += line;
  file += '\n';
}

}  // namespace

Result<Snapshot> snapshot_of_text(std::string_view text, std::string origin) {
  if (is_utf16(text)) {
    return no_text(std::move(origin), "is UTF-16, and only UTF-8 is read",
                   "save it again as UTF-8");
  }
  Snapshot snapshot;
  bool has_device = false;
  each_line(text, [&](std::string_view line) {
    line = without_quote(line);
    const bool starts_device = lspci_header(line).has_value();
    has_device = has_device || starts_device;
    const std::string_view name = starts_device ? "lspci.txt" : file_of(line);
    if (!name.empty()) return append(snapshot.files[std::string(name)], line);
    // Details of a device, tables of tools, prompts: their readers know which lines are theirs.
    if (has_device) append(snapshot.files["lspci.txt"], line);
    append(snapshot.files["tools/pasted.txt"], line);
  });
  if (snapshot.files.empty() ||
      (snapshot.files.size() == 1 && snapshot.files.contains("tools/pasted.txt"))) {
    return no_text(std::move(origin),
                   "has no line that lspci, sysfs, iomem or the kernel's log could have printed",
                   "paste what 'sudo lspci -vvv' and 'sudo dmesg' print, or send a snapshot made "
                   "with 'sudo evener snapshot'");
  }
  snapshot.files["MANIFEST"] = fmt::format("format={}\n", kPastedFormat);
  snapshot.origin = std::move(origin);
  return snapshot;
}

}  // namespace evener::host
