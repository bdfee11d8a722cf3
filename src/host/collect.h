#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "host/facts.h"
#include "host/mask.h"
#include "host/snapshot.h"

// The live machine as a snapshot: the same files that the capture script writes, so that one set of
// parsers reads both. Reads only: nothing is written, no module loaded, no register set. Functions
// that sleep (D3) are not woken: their config space and links stay unknown.
// Source: reference/host/snapshot-format.md, sections 1 to 3 and 5. Judge: tests/host/collect_test,
// which also runs the script over the same tree.

namespace evener::host {

struct CollectOptions {
  std::filesystem::path root = "/";  // whose sys, proc, boot and dev are read
  // Programs of the GPUs' vendors, where the driver is loaded and nothing sleeps; only if root is
  // "/".
  bool run_tools = true;
  // Readings of every link while a copy runs that somebody else started; the fastest is kept.
  size_t num_load_samples = 0;
  std::chrono::milliseconds between_samples{200};
};

struct Collected {
  Snapshot snapshot;  // masked
  MaskCounts masked;
};

// Errors: not_found, where the kernel shows no PCI devices; limit_exceeded. What else could not be
// read is listed in the file unread.tsv.
Result<Collected> collect(const CollectOptions& options = {});

// The lines of unread.tsv.
std::vector<Missing> unread_of(const Snapshot& snapshot);

}  // namespace evener::host
