#include "sample/sampler.h"

#include <cmath>
#include <limits>
#include <utility>

#include "sample/arg_max.h"
#include "sample/draw.h"
#include "sample/finite.h"
#include "sample/stage.h"

namespace evener::sample {

Sampler::Sampler(const Params& params, std::span<const TokenId> prompt, PieceOf piece_of)
    : params_(params), penalties_(params, prompt), dry_(params, prompt, std::move(piece_of)) {}

bool Sampler::changes_logits() const {
  return !params_.logit_bias.empty() || params_.repetition_penalty != 1 ||
         params_.presence_penalty != 0 || params_.frequency_penalty != 0 ||
         params_.dry_multiplier > 0;
}

void Sampler::adjust(std::span<float> logits) {
  for (const auto& [id, bias] : params_.logit_bias) {
    float& logit = logits[static_cast<size_t>(id)];
    if (std::isfinite(logit)) logit = clamp_finite(logit + bias);
  }
  penalties_.apply(logits);
  dry_.apply(logits);
}

Result<TokenId> Sampler::choose(std::span<const float> logits, std::span<const TokenId> forbidden,
                                Workspace& workspace) {
  if (changes_logits() || !forbidden.empty()) {
    workspace.logits.assign(logits.begin(), logits.end());
    adjust(workspace.logits);
    for (const TokenId id : forbidden) {
      workspace.logits[static_cast<size_t>(id)] = -std::numeric_limits<float>::infinity();
    }
    logits = workspace.logits;
  }
  const auto best = arg_max(logits);
  if (!best) return no_finite_logit("generated token", num_accepted_);
  if (params_.temperature == 0) return *best;

  Candidates& candidates = workspace.candidates;
  candidates.assign(logits, logits[static_cast<size_t>(*best)]);
  for (const Stage* stage : stages()) {
    if (stage->is_on(params_)) stage->apply(params_, candidates);
  }
  return draw(candidates, uniform(params_.seed, num_accepted_));
}

Result<TokenId> Sampler::choose_best(TokenId best) const {
  if (best < 0) return no_finite_logit("generated token", num_accepted_);
  return best;
}

void Sampler::accept(TokenId id) {
  penalties_.accept(id);
  dry_.accept(id);
  ++num_accepted_;
}

}  // namespace evener::sample
