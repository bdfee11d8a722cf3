#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "cli/command_line.h"
#include "engine/parallel_options.h"

namespace evener::cli {

// Where a model runs and how it is cut, which every command that computes has: --devices, --tp,
// --stages, --split, --ratio, --experts, --peer.
class ParallelWords {
 public:
  void add_to(CommandLine& line);

  // What a server has besides: --rank-deadline, --max-restarts, --fallback,
  // --fault.
  void add_failures_to(CommandLine& line);

  // Fills in what was said. Error: invalid_argument: words that are no list of numbers or devices,
  // devices that do not exist or share a core, numbers that contradict each other.
  Status apply(engine::ParallelOptions& options) const;

  // The same without a look at this machine or at numbers that contradict each other.
  Status read(engine::ParallelOptions& options) const;

  // Neither devices nor a layout were named: what `evener tune` found may be taken.
  bool says_nothing() const;

 private:
  std::string devices_;
  size_t num_shards_ = 0;
  size_t num_stages_ = 0;
  std::string split_;
  std::string ratio_;
  std::string experts_ = "auto";
  std::string peer_ = "auto";
  double rank_deadline_seconds_ = 10;
  size_t max_restarts_ = 3;
  bool fallback_ = false;
  std::string fault_;
};

}  // namespace evener::cli
