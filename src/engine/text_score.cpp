#include "engine/text_score.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sample/arg_max.h"
#include "sample/logprobs.h"

namespace evener::engine {
namespace {

Error fault(Code code, std::string why) {
  return {
      .code = code, .doing = "score the text", .where = {}, .why = std::move(why), .remedy = {}};
}

std::vector<int32_t> tokens_of(const ScoredText& text, const Window& window) {
  const auto part = text.tokens.subspan(window.first, window.num_tokens);
  std::vector<int32_t> tokens(part.begin(), part.end());
  if (text.bos) tokens.front() = *text.bos;
  return tokens;
}

// Calls score(row, token) with the logits before each scored token of a window.
template <class Score>
Status for_each_scored(LogitsRun& run, const std::vector<int32_t>& tokens, size_t num_unscored,
                       Score score) {
  run.restart();
  bool finite = true;
  const auto row = [&](size_t index, std::span<const float> logits) {
    if (std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }))
      score(index + 1 - num_unscored, logits, tokens[index + 1]);
    else
      finite = false;
  };
  // The last token is read by nobody: it is only predicted.
  RETURN_IF_ERROR(run.feed(std::span(tokens).first(tokens.size() - 1), row, num_unscored - 1));
  if (!finite) return fault(Code::corrupt, "the model's logits are not numbers");
  return {};
}

double nll_of(const sample::Logprobs& logprobs, std::span<const float> logits, int32_t token) {
  return logprobs.log_sum() - double{logits[static_cast<size_t>(token)]};
}

// sum of p_a (log p_a - log p_b), with log p = logit - log_sum.
double kl_divergence(std::span<const float> a, const sample::Logprobs& of_a,
                     std::span<const float> b, const sample::Logprobs& of_b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double log_a = double{a[i]} - of_a.log_sum();
    sum += std::exp(log_a) * (log_a - double{b[i]} + of_b.log_sum());
  }
  return std::max(sum, 0.0);  // rounding
}

void compare_rows(std::span<const float> a, std::span<const float> b, int32_t token,
                  TextComparison& result) {
  const sample::Logprobs of_a(a);
  const sample::Logprobs of_b(b);
  const double nll_a = nll_of(of_a, a, token);
  const double nll_b = nll_of(of_b, b, token);
  result.nll_a.add(nll_a);
  result.nll_b.add(nll_b);
  const double change = std::exp(-nll_b) - std::exp(-nll_a);
  result.probability_change.add(change);
  result.squared_change.add(change * change);
  const double kl = kl_divergence(a, of_a, b, of_b);
  result.kl.add(kl);
  result.kls.push_back(static_cast<float>(kl));
  if (sample::arg_max(a) == sample::arg_max(b)) ++result.num_same_top;
}

}  // namespace

Result<RunningMean> score_text(LogitsRun& run, const ScoredText& text,
                               const WindowObserver& observer) {
  RunningMean nll;
  for (size_t i = 0; i < text.windows.size(); ++i) {
    RETURN_IF_ERROR(for_each_scored(run, tokens_of(text, text.windows[i]),
                                    text.windows[i].num_unscored,
                                    [&](size_t, std::span<const float> logits, int32_t token) {
                                      nll.add(nll_of(sample::Logprobs(logits), logits, token));
                                    }));
    if (!observer(i + 1)) return fault(Code::cancelled, "interrupted");
  }
  return nll;
}

Result<TextComparison> compare_on_text(LogitsRun& a, LogitsRun& b, const ScoredText& text,
                                       const WindowObserver& observer) {
  const size_t vocab_size = a.config().vocab_size;
  if (vocab_size != b.config().vocab_size) {
    return fault(Code::invalid_argument, "the models have vocabularies of " +
                                             std::to_string(vocab_size) + " and " +
                                             std::to_string(b.config().vocab_size) + " tokens");
  }
  TextComparison result;
  std::vector<float> rows_of_a;  // [scored tokens of a window, vocab]
  for (size_t i = 0; i < text.windows.size(); ++i) {
    const Window& window = text.windows[i];
    const std::vector<int32_t> tokens = tokens_of(text, window);
    rows_of_a.clear();
    RETURN_IF_ERROR(for_each_scored(
        a, tokens, window.num_unscored, [&](size_t, std::span<const float> logits, int32_t) {
          rows_of_a.insert(rows_of_a.end(), logits.begin(), logits.end());
        }));
    RETURN_IF_ERROR(for_each_scored(
        b, tokens, window.num_unscored,
        [&](size_t scored, std::span<const float> logits, int32_t token) {
          compare_rows(std::span(rows_of_a).subspan(scored * vocab_size, vocab_size), logits, token,
                       result);
        }));
    if (!observer(i + 1)) return fault(Code::cancelled, "interrupted");
  }
  return result;
}

}  // namespace evener::engine
