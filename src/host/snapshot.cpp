#include "host/snapshot.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "host/gpus.h"
#include "host/kernel_log.h"
#include "host/limits.h"
#include "host/lspci_text.h"
#include "host/machine_text.h"
#include "host/overlay.h"
#include "host/sysfs_text.h"
#include "host/tree.h"
#include "host/unread.h"

namespace evener::host {
namespace {

// All files of a snapshot, each read by itself.
struct Texts {
  Lspci lspci;
  Sightings tree;
  Sightings sysfs;
  Sightings under_load;
  Sightings tools;
  Iomem iomem;
  KernelLog log;
  Kfd kfd;
  bool has_kfd = false;
  Machine machine;
  Kernel kernel;
  Captured captured;
};

class Files {
 public:
  explicit Files(const Snapshot& snapshot) : snapshot_(&snapshot) {}

  std::string_view get(std::string_view name) const {
    const auto at = snapshot_->files.find(name);
    return at == snapshot_->files.end() ? std::string_view() : std::string_view(at->second);
  }
  bool has(std::string_view name) const { return !trim_lines(get(name)).empty(); }

 private:
  static std::string_view trim_lines(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
  }

  const Snapshot* snapshot_;
};

Captured captured_in(const Files& files, const Texts& texts) {
  return {.is_pasted = manifest_value(files.get("MANIFEST"), "format") == kPastedFormat,
          .has_lspci = !texts.lspci.text.empty(),
          .lspci_is_cut = texts.lspci.is_cut,
          .has_sysfs = !texts.sysfs.empty(),
          .has_iomem = files.has("iomem.txt"),
          .iomem_is_hidden = texts.iomem.is_hidden,
          .has_log = files.has("dmesg.txt"),
          .has_config = !texts.kernel.config.empty(),
          .has_command_line = texts.kernel.command_line.has_value(),
          .has_cpu = !texts.machine.cpu_vendor.empty() || !texts.machine.cpu.empty()};
}

template <class T>
void fill(std::optional<T>& out, const std::optional<T>& fallback) {
  if (!out) out = fallback;
}

void fill(std::string& out, const std::string& fallback) {
  if (out.empty()) out = fallback;
}

// The log knows a machine too, less well.
void fill_machine(const Machine& log, Machine& machine) {
  fill(machine.board, log.board);
  fill(machine.bios, log.bios);
  fill(machine.cpu, log.cpu);
  fill(machine.cpu_vendor, log.cpu_vendor);
  fill(machine.cpu_family, log.cpu_family);
  fill(machine.cpu_model, log.cpu_model);
  fill(machine.guest, log.guest);
}

void read_machine_files(const Files& files, Texts& texts) {
  read_dmi(files.get("dmi.txt"), texts.machine);
  read_cpu(files.get("cpu.txt"), texts.machine);
  texts.machine.numa_nodes = read_nodes(files.get("numa.tsv"));
  fill_machine(texts.log.machine, texts.machine);
}

void read_kernel_files(const Files& files, Texts& texts) {
  const std::string_view manifest = files.get("MANIFEST");
  const bool is_pasted = manifest_value(manifest, "format") == kPastedFormat;
  Kernel& kernel = texts.kernel;
  kernel.release = manifest_value(manifest, "kernel");
  fill(kernel.release, texts.log.release);
  kernel.config = read_kernel_config(files.get("kconfig.txt"), !is_pasted);
  kernel.module_parameters = read_modules(files.get("mod.tsv"));
  kernel.unknown_options = texts.log.unknown_options;
  if (files.has("cmdline.txt")) {
    kernel.command_line = read_command_line(files.get("cmdline.txt"));
  } else if (texts.log.command_line) {
    kernel.command_line = read_command_line(*texts.log.command_line);
  }
}

Texts read_texts(const Files& files) {
  Texts texts;
  texts.lspci = read_lspci(files.get("lspci.txt"));
  texts.tree = read_lspci_tree(files.get("lspci-tree.txt"));
  texts.sysfs = read_sysfs(files.get("sysfs.tsv"));
  texts.under_load = read_sysfs(files.get("load/sysfs.tsv"));
  texts.iomem = read_iomem(files.get("iomem.txt"));
  texts.log = read_kernel_log(files.get("dmesg.txt"));
  texts.kfd = read_kfd(files.get("kfd.tsv"));
  texts.has_kfd = files.has("kfd.tsv");
  read_nvidia_query(files.get("tools/nvidia-smi-query.csv"), texts.tools);
  read_machine_files(files, texts);
  read_kernel_files(files, texts);
  texts.captured = captured_in(files, texts);
  return texts;
}

// In order of trust: snapshot-format.md, section 1.
Sightings merge(const Texts& texts, HostFacts& facts) {
  const std::array<Source, 7> sources{{
      {"lspci.txt (registers)", &texts.lspci.config},
      {"sysfs.tsv", &texts.sysfs},
      {"kfd.tsv", &texts.kfd.cards},
      {"lspci.txt", &texts.lspci.text},
      {"lspci-tree.txt", &texts.tree},
      {"dmesg.txt", &texts.log.functions},
      {"nvidia-smi", &texts.tools},
  }};
  return overlay(sources, facts.contradictions);
}

// A link rests when nothing runs: what was read while a copy ran is the truth.
void read_links_under_load(const Texts& texts, Sightings& functions) {
  for (auto& [address, seen] : functions) {
    auto& link = seen.function.link;
    const auto at = texts.under_load.find(address);
    const bool has_load = at != texts.under_load.end() && at->second.function.link;
    if (has_load && at->second.function.link->now_gts) {
      if (!link) link.emplace();
      link->now_gts = at->second.function.link->now_gts;
      if (at->second.function.link->now_width)
        link->now_width = at->second.function.link->now_width;
      link->under_load = true;
    } else if (link && link->now_gts && !texts.captured.is_pasted) {
      link->under_load = false;
    }
  }
}

bool has_option(const Kernel& kernel, std::string_view option) {
  const std::string line = " " + kernel.command_line.value_or("") + " ";
  return line.find(" " + std::string(option) + " ") != std::string::npos;
}

// The cards' own mode counts. "Default domain type" alone is no proof that an IOMMU is active.
std::optional<IommuMode> iommu_of(const Texts& texts, const HostFacts& facts) {
  for (const Gpu& gpu : facts.gpus) {
    const Function* function = find_function(facts, gpu.function);
    if (function != nullptr && function->iommu) return function->iommu;
  }
  for (const Function& function : facts.functions) {
    if (function.iommu) return function.iommu;
  }
  if (texts.log.has_iommu_groups && texts.log.default_domain) return texts.log.default_domain;
  for (const char* option : {"intel_iommu=off", "amd_iommu=off", "iommu=off"}) {
    if (has_option(facts.kernel, option)) return IommuMode::off;
  }
  return {};
}

// "6.8.0-45-generic" is at least 6.0.
bool lists_grants(const std::string& release) { return leading_uint(release).value_or(0) >= 6; }

void add_observations(const Snapshot& snapshot, const Texts& texts, HostFacts& facts) {
  facts.observed.other = json::Value::object();
  add_peers(texts.kfd.granted, facts);
  if (texts.has_kfd && lists_grants(facts.kernel.release)) add_refusals(texts.kfd.granted, facts);
  Tools tools;
  const CardOrder order = card_order(facts);
  for (const auto& [name, text] : snapshot.files) {
    if (name.starts_with("tools/")) read_tools(text, order, tools);
  }
  add_tools(tools, facts);
}

bool is_empty(const HostFacts& facts) {
  return facts.functions.empty() && facts.roots.empty() && facts.log.empty() &&
         facts.kernel.config.empty() && !facts.kernel.command_line && facts.machine.board.empty() &&
         facts.machine.cpu.empty() && facts.kernel.release.empty();
}

Error nothing_in(const Snapshot& snapshot) {
  return {.code = Code::corrupt,
          .doing = "read the facts of a machine",
          .where = snapshot.origin,
          .why = "has no text of lspci, sysfs, iomem or a kernel log in it",
          .remedy =
              "make a snapshot with 'sudo evener snapshot', or paste what 'sudo lspci -vvv' "
              "prints"};
}

Error too_many(const Snapshot& snapshot, size_t count) {
  return {.code = Code::limit_exceeded,
          .doing = "read the facts of a machine",
          .where = snapshot.origin,
          .why = fmt::format("lists {} PCI functions, at most {} are read", count, kFunctionsMax),
          .remedy = {}};
}

}  // namespace

Result<HostFacts> facts_of(const Snapshot& snapshot) {
  const Texts texts = read_texts(Files(snapshot));
  HostFacts facts;
  facts.machine = texts.machine;
  facts.kernel = texts.kernel;
  facts.log = texts.log.lines;
  Sightings functions = merge(texts, facts);
  if (functions.size() > kFunctionsMax) return too_many(snapshot, functions.size());

  read_links_under_load(texts, functions);
  const bool is_whole = !texts.sysfs.empty() || texts.lspci.starts_at_the_top;
  connect(functions, {texts.iomem.buses, texts.log.roots, is_whole}, facts);
  add_gpus(functions, texts.has_kfd, facts);
  for (const auto& [address, seen] : functions) facts.functions.push_back(seen.function);
  if (is_empty(facts)) return nothing_in(snapshot);

  facts.iommu = iommu_of(texts, facts);
  add_observations(snapshot, texts, facts);
  add_missing(texts.captured, functions, facts);
  facts.complete = facts.missing.empty();
  return facts;
}

}  // namespace evener::host
