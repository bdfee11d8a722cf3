// evener compare: how far one model, or one way of storing it, is from another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/kv_option.h"
#include "cli/long_work.h"
#include "cli/text_options.h"
#include "engine/open_model.h"

namespace evener::cli {
namespace {

struct Options {
  std::filesystem::path a;
  std::filesystem::path b;
  TextOptions text;
  std::string kv_b;  // empty: as A
};
Options options;

void add_options(CommandLine& line) {
  line.add("A", options.a, "model to measure against: GGUF file or Hugging Face folder").required();
  line.add("B", options.b, "model that is measured").required();
  add_text_options(line, options.text);
  add_kv_option(line, "--kv-b", options.kv_b,
                "how keys and values of B are kept; if left out, as those of A");
}

struct Quantile {
  const char* name;
  double share;
  float value = 0;
};

std::vector<Quantile> quantiles_of(std::vector<float> values) {
  std::ranges::sort(values);
  std::vector<Quantile> quantiles = {{"50 %", 0.5},  {"90 %", 0.9},     {"95 %", 0.95},
                                     {"99 %", 0.99}, {"99.9 %", 0.999}, {"largest", 1}};
  const auto last = static_cast<double>(values.size() - 1);
  for (Quantile& quantile : quantiles)
    quantile.value = values[static_cast<size_t>(std::ceil(quantile.share * last))];
  return quantiles;
}

double same_top_share(const engine::TextComparison& result) {
  return static_cast<double>(result.num_same_top) / static_cast<double>(result.kls.size());
}

void print_json(const engine::TextComparison& result) {
  nlohmann::ordered_json quantiles;
  for (const Quantile& quantile : quantiles_of(result.kls))
    quantiles[quantile.name] = quantile.value;
  const nlohmann::ordered_json all = {
      {"a", {{"perplexity", std::exp(result.nll_a.mean())}, {"nll", result.nll_a.mean()}}},
      {"b", {{"perplexity", std::exp(result.nll_b.mean())}, {"nll", result.nll_b.mean()}}},
      {"kl",
       {{"mean", result.kl.mean()},
        {"error", result.kl.standard_error()},
        {"quantiles", quantiles}}},
      {"same_top", same_top_share(result)},
      {"probability_change",
       {{"mean", result.probability_change.mean()},
        {"rms", std::sqrt(result.squared_change.mean())}}},
      {"scored_tokens", result.kls.size()}};
  fmt::print("{}\n", all.dump(2));
}

void print_table(const engine::TextComparison& result) {
  fmt::print("{:<28}{:>12}{:>12}\n", "", "A", "B");
  fmt::print("{:<28}{:>12.4f}{:>12.4f}\n", "perplexity", std::exp(result.nll_a.mean()),
             std::exp(result.nll_b.mean()));
  fmt::print("{:<28}{:>12.5f}{:>12.5f}\n\n", "nats a token", result.nll_a.mean(),
             result.nll_b.mean());
  fmt::print("{:<28}{:>12.6f} +- {:.6f}\n", "KL(A || B), mean, nats", result.kl.mean(),
             result.kl.standard_error());
  for (const Quantile& quantile : quantiles_of(result.kls))
    fmt::print("{:<28}{:>12.6f}\n", fmt::format("    {}", quantile.name), quantile.value);
  fmt::print("{:<28}{:>12.3f} %\n", "same likeliest token", 100 * same_top_share(result));
  fmt::print("{:<28}{:>12.4f} %\n", "change of probability, mean",
             100 * result.probability_change.mean());
  fmt::print("{:<28}{:>12.4f} %\n", "    root mean square",
             100 * std::sqrt(result.squared_change.mean()));
  fmt::print("{:<28}{:>12}\n", "scored tokens", result.kls.size());
}

// The ids must mean the same in both models; a different tokenizer shows on any real text.
Status check_same_tokens(const TokenizedText& text, const gguf::File& b) {
  ASSIGN_OR_RETURN(const TokenizedText other, read_text(b, options.text));
  if (other.tokens == text.tokens) return {};
  return Error{
      .code = Code::invalid_argument,
      .doing = "compare",
      .where = options.b.string(),
      .why = "its tokenizer reads the text as other tokens than that of " + options.a.string(),
      .remedy = "compare models that share a tokenizer"};
}

Result<int> run() {
  LongWork work;
  ASSIGN_OR_RETURN(const auto file_a, open_shared(options.a));
  ASSIGN_OR_RETURN(const auto file_b, open_shared(options.b));
  ASSIGN_OR_RETURN(const TokenizedText text, read_text(*file_a, options.text));
  RETURN_IF_ERROR(check_same_tokens(text, *file_b));
  ASSIGN_OR_RETURN(auto run_a, open_run(file_a, options.text, work));
  TextOptions text_b = options.text;
  if (!options.kv_b.empty()) text_b.kv = options.kv_b;
  ASSIGN_OR_RETURN(auto run_b, open_run(file_b, text_b, work));

  ASSIGN_OR_RETURN(const engine::TextComparison result,
                   engine::compare_on_text(run_a, run_b, text.view(), [&](size_t num_windows_done) {
                     return work.advance("comparing", static_cast<double>(num_windows_done),
                                         static_cast<double>(text.windows.size()));
                   }));
  work.finish();
  if (options.text.json)
    print_json(result);
  else
    print_table(result);
  return 0;
}

}  // namespace

extern const Command compare_command;
const Command compare_command = {
    .name = "compare",
    .summary = "Measure how far one model is from another on a text",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
