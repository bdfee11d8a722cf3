#include "serve/usage.h"

#include <chrono>

namespace evener::serve {
namespace {

double per(double amount, double of) { return of > 0 ? amount / of : 0; }

double milliseconds(std::chrono::duration<double> time) { return time.count() * 1000; }

}  // namespace

void Usage::count(size_t choice, const engine::Update& update) {
  choices_[choice] = {.num_prompt_tokens = update.num_prompt_tokens,
                      .num_cached_tokens = update.num_cached_tokens,
                      .match_end = update.match_end,
                      .num_generated_tokens = update.num_generated_tokens,
                      .timing = update.timing};
}

size_t Usage::num_prompt_tokens() const {
  size_t sum = 0;
  for (size_t i = 0; i < choices_.size(); i += choices_per_prompt_)
    sum += choices_[i].num_prompt_tokens;
  return sum;
}

size_t Usage::num_cached_tokens() const {
  size_t sum = 0;
  for (size_t i = 0; i < choices_.size(); i += choices_per_prompt_)
    sum += choices_[i].num_cached_tokens;
  return sum;
}

size_t Usage::num_generated_tokens() const {
  size_t sum = 0;
  for (const Choice& choice : choices_) sum += choice.num_generated_tokens;
  return sum;
}

Json Usage::to_json() const {
  const size_t prompt = num_prompt_tokens();
  const size_t generated = num_generated_tokens();
  return {{"prompt_tokens", prompt},
          {"completion_tokens", generated},
          {"total_tokens", prompt + generated},
          {"prompt_tokens_details", {{"cached_tokens", num_cached_tokens()}}},
          {"completion_tokens_details",
           {{"reasoning_tokens", num_reasoning_tokens_},
            {"accepted_prediction_tokens", 0},
            {"rejected_prediction_tokens", 0}}}};
}

Json Usage::timings(size_t choice) const {
  const Choice& c = choices_[choice];
  const size_t num_computed = c.num_prompt_tokens - c.num_cached_tokens;
  const auto prompt_n = static_cast<double>(num_computed);
  const auto predicted_n = static_cast<double>(c.num_generated_tokens);
  const double prompt_ms = milliseconds(c.timing.prefill);
  const double predicted_ms = milliseconds(c.timing.decode);
  return {{"cache_n", c.num_cached_tokens},
          {"cache_end", match_end_name(c.match_end)},
          {"prompt_n", num_computed},
          {"prompt_ms", prompt_ms},
          {"prompt_per_token_ms", per(prompt_ms, prompt_n)},
          {"prompt_per_second", per(prompt_n * 1000, prompt_ms)},
          {"predicted_n", c.num_generated_tokens},
          {"predicted_ms", predicted_ms},
          {"predicted_per_token_ms", per(predicted_ms, predicted_n)},
          {"predicted_per_second", per(predicted_n * 1000, predicted_ms)},
          {"queue_ms", milliseconds(c.timing.queued)},
          {"gap_max_ms", milliseconds(c.timing.gap_max)}};
}

const char* match_end_name(cache::MatchEnd end) {
  switch (end) {
    case cache::MatchEnd::all:
      return "all";
    case cache::MatchEnd::differs:
      return "differs";
    case cache::MatchEnd::no_state:
      return "no_state";
    case cache::MatchEnd::evicted:
      return "evicted";
    case cache::MatchEnd::disabled:
      return "disabled";
  }
  return "";
}

}  // namespace evener::serve
