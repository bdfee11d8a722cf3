// Any bytes as pasted text, as each file of a snapshot and as facts.json: they are refused, or what
// was read can be written as facts.json and read again with the same meaning. Seeds:
// tests/data/fuzz/host_text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "host/facts_json.h"
#include "host/snapshot.h"

namespace evener::host {
namespace {

constexpr std::string_view kFiles[] = {
    "MANIFEST", "cmdline.txt",    "kconfig.txt",   "cpu.txt",
    "dmi.txt",  "iomem.txt",      "dmesg.txt",     "lspci.txt",
    "kfd.tsv",  "lspci-tree.txt", "sysfs.tsv",     "mod.tsv",
    "numa.tsv", "load/sysfs.tsv", "tools/any.txt", "tools/nvidia-smi-query.csv",
};

// Trees may have circles: every way up has to end.
void check_tree(const HostFacts& facts) {
  for (const Gpu& gpu : facts.gpus) {
    EVENER_ASSERT(find_function(facts, gpu.function) != nullptr);
    EVENER_ASSERT(ancestors(facts, gpu.function).ports.size() <= 256);
  }
}

void check(const Result<HostFacts>& facts) {
  if (!facts) {
    EVENER_ASSERT(!facts.error().why.empty());
    return;
  }
  check_tree(*facts);
  const std::string text = facts_to_json(*facts);
  const auto again = facts_from_json(text, "again");
  EVENER_ASSERT(again.has_value());
  check_tree(*again);
  EVENER_ASSERT(facts_to_json(*again) == text);
}

void try_snapshot(std::string_view text) {
  Snapshot snapshot{.files = {}, .origin = "fuzz"};
  for (const std::string_view name : kFiles) snapshot.files.emplace(name, text);
  check(facts_of(snapshot));
}

}  // namespace
}  // namespace evener::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener::host;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(facts_from_json(text, "fuzz"));
  try_snapshot(text);
  if (const auto snapshot = snapshot_of_text(text, "fuzz")) check(facts_of(*snapshot));
  return 0;
}
