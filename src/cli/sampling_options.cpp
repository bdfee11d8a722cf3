#include "cli/sampling_options.h"

#include <CLI/CLI.hpp>

namespace evener::cli {

void add_sampling_options(CLI::App& app, sample::Params& params) {
  app.add_option("--temp", params.temperature, "temperature; 0 takes the most likely token")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10.0));
  app.add_option("--top-k", params.top_k, "only the K most likely tokens; 0: all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--top-p", params.top_p, "only the most likely tokens that together reach P")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--min-p", params.min_p, "only tokens at least P times as likely as the best")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--typical", params.typical_p, "only typical tokens that together reach P")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--repeat-penalty", params.repetition_penalty,
                 "makes tokens of the recent text less likely; 1: off")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 10.0));
  app.add_option("--seed", params.seed, "same seed, same text")->capture_default_str();
}

}  // namespace evener::cli
