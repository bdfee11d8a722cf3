// evener snapshot: what evener doctor needs to know of a machine, as one file to send. Exit status:
// 0 written, 1 not, 2 wrong words.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "base/private_file.h"
#include "cli/command.h"
#include "cli/output_options.h"
#include "host/capture_script.h"
#include "host/collect.h"
#include "host/mask.h"
#include "host/read_facts.h"
#include "host/snapshot_tar.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path out = "p2p-snapshot.tar.gz";
  std::filesystem::path from;
  bool script = false;
  bool force = false;
  uint32_t load_seconds = 0;
};
Options options;

constexpr std::chrono::milliseconds kBetweenSamples{200};

void add_options(CommandLine& line) {
  line.add("OUT", options.out, "file to write, a tar.gz");
  const Option script = line.add("--script", options.script,
                                 "print a shell script that captures the same without Evener");
  line.add("--from", options.from, "mask and pack this snapshot (a folder, tar or text) instead")
      .excludes(script);
  line.add("--load-seconds", options.load_seconds,
           "read the links over and over for so long, while a copy runs that you started")
      .between(0, 600);
  line.add("--force", options.force, "replace OUT if it is there");
}

Result<host::Collected> collect() {
  if (!options.from.empty()) {
    ASSIGN_OR_RETURN(host::Snapshot snapshot, host::read_snapshot(options.from));
    host::MaskCounts counts = host::mask(snapshot, {});
    return host::Collected{std::move(snapshot), std::move(counts)};
  }
  const auto time = std::chrono::seconds(options.load_seconds);
  return host::collect({.num_load_samples = static_cast<size_t>(time / kBetweenSamples),
                        .between_samples = kBetweenSamples});
}

void print_masked(const host::MaskCounts& counts) {
  std::string list;
  for (const auto& [kind, count] : counts)
    list += fmt::format("{}{} x {}", list.empty() ? "" : ", ", count, kind);
  fmt::print("masked: {}\n", list.empty() ? "nothing was there to mask" : list);
}

void print_written(const host::Snapshot& snapshot, size_t num_bytes) {
  fmt::print("{}: {} files, {} KiB; look at them before you share it\n", options.out.string(),
             snapshot.files.size(), (num_bytes + 1023) / 1024);
  for (const host::Missing& missing : host::unread_of(snapshot))
    fmt::print("not read: {}: {}\n  {}\n", missing.what, missing.why, missing.remedy);
}

void print_script() {
  const std::string_view script = host::capture_script();
  std::fwrite(script.data(), 1, script.size(), stdout);
}

Result<int> run() {
  if (options.script) {
    print_script();
    return 0;
  }
  RETURN_IF_ERROR(check_output({options.out, options.force}, "write snapshot"));
  ASSIGN_OR_RETURN(const host::Collected collected, collect());
  RETURN_IF_ERROR(host::check_masked(collected.snapshot));
  ASSIGN_OR_RETURN(const std::string bytes, host::snapshot_tar(collected.snapshot));
  RETURN_IF_ERROR(write_private_file(options.out, bytes, "write snapshot"));
  print_written(collected.snapshot, bytes.size());
  print_masked(collected.masked);
  return 0;
}

}  // namespace

extern const Command snapshot_command;
const Command snapshot_command = {
    .name = "snapshot",
    .summary = "Write what evener doctor needs to know of this machine into one file to send",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
