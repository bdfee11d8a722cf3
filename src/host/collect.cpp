#include "host/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "host/capture.h"
#include "host/snapshot_files.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

const std::string kFunctions = "sys/bus/pci/devices";

// In the order in which they are asked, which is the order of what goes unread.
constexpr void (*kParts[])(Capture&) = {
    collect_manifest,     collect_command_line, collect_kernel_config, collect_cpu,
    collect_board,        collect_address_map,  collect_kernel_log,    collect_sysfs,
    collect_config_space, collect_kfd,          collect_modules,       collect_numa,
};

Error no_functions(const FileTree& tree) {
  const std::string path = tree.absolute(kFunctions).string();
  return {.code = Code::not_found,
          .doing = "read this machine",
          .where = path,
          .why = tree.exists(kFunctions) ? "shows no PCI devices" : "there is none",
          .remedy =
              "in a container or a sandbox, run this on the host itself, or capture there "
              "with the script of 'evener snapshot --script'"};
}

void sample_links(Capture& capture, const CollectOptions& options) {
  LoadSamples samples;
  for (size_t i = 0; i < options.num_load_samples; ++i) {
    if (i > 0) std::this_thread::sleep_for(options.between_samples);
    samples.take(capture);
  }
  samples.add_to(capture);
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\t' || c == '\n') c = ' ';
  }
  return line;
}

std::string unread_lines(const std::vector<Missing>& unread) {
  std::string text;
  for (const Missing& missing : unread)
    text += fmt::format("{}\t{}\t{}\n", one_line(missing.what), one_line(missing.why),
                        one_line(missing.remedy));
  return text;
}

// The whole name and, where it has a domain behind, its first part.
std::vector<std::string> host_names(const FileTree& tree) {
  const std::string name = tree.read_line("proc/sys/kernel/hostname").value_or("");
  std::vector<std::string> names = {name};
  if (const size_t dot = name.find('.'); dot != std::string::npos)
    names.push_back(name.substr(0, dot));
  return names;
}

}  // namespace

Result<Collected> collect(const CollectOptions& options) {
  const FileTree tree(options.root);
  Capture capture = {.tree = tree,
                     .functions = tree.list(kFunctions),
                     .kernel_release = tree.read_line("proc/sys/kernel/osrelease").value_or(""),
                     .files = {},
                     .unread = {}};
  if (capture.functions.empty()) return no_functions(tree);
  for (const auto part : kParts) part(capture);
  if (options.run_tools) collect_tools(capture);
  if (options.num_load_samples > 0) sample_links(capture, options);
  capture.add("unread.tsv", unread_lines(capture.unread));

  Collected collected;
  collected.snapshot.origin = "this machine";
  for (auto& [name, text] : capture.files)
    RETURN_IF_ERROR(add_file(collected.snapshot, name, std::move(text)));
  collected.masked = mask(collected.snapshot, host_names(tree));
  return collected;
}

std::vector<Missing> unread_of(const Snapshot& snapshot) {
  std::vector<Missing> unread;
  const auto file = snapshot.files.find("unread.tsv");
  if (file == snapshot.files.end()) return unread;
  each_line(file->second, [&](std::string_view line) {
    const size_t first = std::min(line.find('\t'), line.size());
    const std::string_view rest = line.substr(std::min(first + 1, line.size()));
    const size_t second = std::min(rest.find('\t'), rest.size());
    if (unread.size() < 1000 && first > 0)
      unread.push_back({std::string(line.substr(0, first)), std::string(rest.substr(0, second)),
                        std::string(rest.substr(std::min(second + 1, rest.size())))});
  });
  return unread;
}

}  // namespace evener::host
