#pragma once

#include <cstdint>

#include "cli/command_line.h"
#include "engine/engine.h"

namespace evener::cli {

// How requests share the machine, and what is kept of them: --max-gap, --decode-share,
// --max-prefill-steps, --max-queue, --queue-timeout, --no-prefix-cache, --cache-ram, --cache-dir,
// --cache-disk.
class SharingOptions {
 public:
  // Some of the words fill `options`, which outlives the line; apply() fills in the rest.
  void add_to(CommandLine& line, engine::EngineOptions& options);
  void apply(engine::EngineOptions& options) const;

 private:
  uint32_t max_gap_ms_ = 400;
  int32_t max_prefill_steps_ = -1;
  uint32_t queue_timeout_seconds_ = 0;
  bool no_prefix_cache_ = false;
};

}  // namespace evener::cli
