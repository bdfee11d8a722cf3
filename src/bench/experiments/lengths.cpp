#include "bench/experiments/lengths.h"

#include <fmt/format.h>

#include "bench/cell_runner.h"

namespace evener::bench {
namespace {

constexpr uint64_t kTokensMax = 100'000'000;  // a prompt of more is a slip of the keyboard

Error too_long(const std::string& experiment, uint64_t length, const std::string& why,
               const std::string& remedy) {
  return {.code = Code::invalid_argument,
          .doing = "measure " + experiment,
          .where = fmt::format("a prompt of {} tokens", length),
          .why = why,
          .remedy = remedy};
}

}  // namespace

Status check_lengths(const Bench& bench, const std::string& experiment,
                     std::span<const uint64_t> lengths, uint64_t num_tokens_out) {
  const auto context = bench.server->facts().context_tokens;
  const uint64_t longest = context ? prompt_tokens_max(bench, num_tokens_out) : kTokensMax;
  if (lengths.empty()) {
    return too_long(experiment, 1,
                    fmt::format("the server's context of {} tokens has no room for one with an "
                                "answer of {}",
                                context.value_or(0), num_tokens_out),
                    "ask for shorter answers with --output-tokens");
  }
  for (const uint64_t length : lengths) {
    if (length > 0 && length <= longest) continue;
    return too_long(experiment, length,
                    fmt::format("the server takes 1 to {} with an answer of {} tokens", longest,
                                num_tokens_out),
                    "ask for shorter prompts, or for shorter answers with --output-tokens");
  }
  return {};
}

}  // namespace evener::bench
