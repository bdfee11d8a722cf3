#include "cli/sampling_options.h"

namespace evener::cli {

void add_sampling_options(CommandLine& line, sample::Params& params) {
  line.add("--temp", params.temperature, "temperature; 0 takes the most likely token")
      .between(0.0, 10.0);
  line.add("--top-k", params.top_k, "only the K most likely tokens; 0: all").between(0, 1e9);
  line.add("--top-p", params.top_p, "only the most likely tokens that together reach P")
      .between(0.0, 1.0);
  line.add("--min-p", params.min_p, "only tokens at least P times as likely as the best")
      .between(0.0, 1.0);
  line.add("--typical", params.typical_p, "only typical tokens that together reach P")
      .between(0.0, 1.0);
  line.add("--repeat-penalty", params.repetition_penalty,
           "makes tokens of the recent text less likely; 1: off")
      .between(0.01, 10.0);
  line.add("--seed", params.seed, "same seed, same text");
}

}  // namespace evener::cli
