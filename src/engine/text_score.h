#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/logits_run.h"
#include "engine/running_mean.h"
#include "engine/text_windows.h"

namespace evener::engine {

// A text and how it is read. `bos`, if there is one, takes the place of each window's first token.
struct ScoredText {
  std::span<const int32_t> tokens;
  std::span<const Window> windows;
  std::optional<int32_t> bos = {};
};

// Called after every window; returning false ends the work with Code::cancelled.
using WindowObserver = std::function<bool(size_t num_windows_done)>;

// The negative log-likelihood of each scored token, in nats: exp of the mean is the perplexity. The
// run is restarted for each window and must have room for one. Errors: those of LogitsRun::feed;
// corrupt (a logit that is no finite number), cancelled.
Result<RunningMean> score_text(LogitsRun& run, const ScoredText& text,
                               const WindowObserver& observer);

// Two models on the same text.
struct TextComparison {
  RunningMean nll_a;
  RunningMean nll_b;
  RunningMean kl;                  // KL(a || b) of the distributions behind each token, in nats
  RunningMean probability_change;  // of the token that came: p_b - p_a
  RunningMean squared_change;
  size_t num_same_top = 0;  // the likeliest token is the same
  std::vector<float> kls;   // of each scored token, in the text's order
};

// Errors: as score_text; invalid_argument (vocabularies of different sizes).
Result<TextComparison> compare_on_text(LogitsRun& a, LogitsRun& b, const ScoredText& text,
                                       const WindowObserver& observer);

}  // namespace evener::engine
