#include "cli/sharing_options.h"

#include <chrono>

namespace evener::cli {

void SharingOptions::add_to(CommandLine& line, engine::EngineOptions& options) {
  line.add("--max-gap", max_gap_ms_,
           "milliseconds that a step with prompts may take while answers are running")
      .between(10, 60'000);
  line.add("--decode-share", options.decode_share,
           "part of the time for answers alone while prompts are read; 0: prompts lose least")
      .between(0, 0.95);
  line.add("--max-prefill-steps", max_prefill_steps_,
           "instead of --max-gap: prompt steps in a row while answers are running; 0: prompts go "
           "first; -1: by time")
      .between(-1, 1'000'000);
  line.add("--max-queue", options.max_queued, "requests that may wait for a place")
      .between(0, 100'000);
  line.add("--queue-timeout", queue_timeout_seconds_,
           "seconds that a request waits for a place; 0: as long as it takes")
      .between(0, 86'400);
  line.add("--no-prefix-cache", no_prefix_cache_, "compute every prompt from its beginning");
  line.add("--cache-ram", options.cache_memory_bytes,
           "memory for computed beginnings that the pool has no room for, as 4G")
      .in_bytes();
  line.add("--cache-dir", options.cache_dir,
           "folder for computed beginnings, which outlive the server there; one server a folder");
  line.add("--cache-disk", options.cache_disk_bytes, "most bytes in that folder, as 100G")
      .in_bytes();
}

void SharingOptions::apply(engine::EngineOptions& options) const {
  options.max_gap = std::chrono::milliseconds(max_gap_ms_);
  if (max_prefill_steps_ >= 0) {
    options.max_prefill_steps = static_cast<size_t>(max_prefill_steps_);
  }
  options.queue_timeout = std::chrono::seconds(queue_timeout_seconds_);
  options.prefix_cache = !no_prefix_cache_;
}

}  // namespace evener::cli
