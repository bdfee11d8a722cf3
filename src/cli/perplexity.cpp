// evener perplexity: how well a model foretells a text.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/long_work.h"
#include "cli/text_options.h"
#include "cli/timing.h"
#include "engine/open_model.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path model;
  TextOptions text;
  bool timing = false;
};
Options options;

void add_options(CommandLine& line) {
  line.add("MODEL", options.model, "GGUF file (of a split one: any part), or Hugging Face folder")
      .required();
  add_text_options(line, options.text);
  add_timing_option(line, options.timing);
}

void print_result(const TokenizedText& text, const engine::RunningMean& nll, double seconds) {
  const double perplexity = std::exp(nll.mean());
  const double error = perplexity * nll.standard_error();  // first order
  if (options.text.json) {
    const nlohmann::ordered_json result = {{"perplexity", perplexity},
                                           {"perplexity_error", error},
                                           {"nll", nll.mean()},
                                           {"nll_error", nll.standard_error()},
                                           {"tokens", text.tokens.size()},
                                           {"scored_tokens", nll.count()},
                                           {"windows", text.windows.size()},
                                           {"seconds", seconds}};
    fmt::print("{}\n", result.dump(2));
    return;
  }
  fmt::print("perplexity        {:.4f} +- {:.4f}\n", perplexity, error);
  fmt::print("nats a token      {:.5f} +- {:.5f}\n", nll.mean(), nll.standard_error());
  fmt::print("tokens            {}, of which {} are scored, in {} windows\n", text.tokens.size(),
             nll.count(), text.windows.size());
  fmt::print("time              {:.1f} s\n", seconds);
}

Result<int> run() {
  using Clock = std::chrono::steady_clock;
  LongWork work;
  ASSIGN_OR_RETURN(const auto file, open_shared(options.model));
  ASSIGN_OR_RETURN(const TokenizedText text, read_text(*file, options.text));
  ASSIGN_OR_RETURN(auto logits_run, open_run(file, options.text, work, options.timing));

  logits_run.restart_times();
  const Clock::time_point begin = Clock::now();
  ASSIGN_OR_RETURN(const engine::RunningMean nll,
                   engine::score_text(logits_run, text.view(), [&](size_t num_windows_done) {
                     return work.advance("perplexity", static_cast<double>(num_windows_done),
                                         static_cast<double>(text.windows.size()));
                   }));
  work.finish();
  print_result(text, nll, std::chrono::duration<double>(Clock::now() - begin).count());
  if (options.timing) print_timing(logits_run.report());
  return 0;
}

}  // namespace

extern const Command perplexity_command;
const Command perplexity_command = {
    .name = "perplexity",
    .summary = "Measure how well a model foretells a text",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
