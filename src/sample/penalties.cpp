#include "sample/penalties.h"

#include <cmath>

#include "sample/finite.h"

namespace evener::sample {
namespace {

void change(float& logit, float changed) {
  if (std::isfinite(logit)) logit = clamp_finite(changed);
}

}  // namespace

Penalties::Penalties(const Params& params, std::span<const TokenId> prompt)
    : repetition_(params.repetition_penalty),
      presence_(params.presence_penalty),
      frequency_(params.frequency_penalty),
      window_max_(params.penalty_last_n < 0 ? SIZE_MAX : size_t(params.penalty_last_n)) {
  if (!repetition_on()) return;
  if (prompt.size() > window_max_) prompt = prompt.last(window_max_);
  for (const TokenId id : prompt) remember(id);
}

void Penalties::apply(std::span<float> logits) const {
  for (const auto& [id, count] : in_window_) {
    float& logit = logits[static_cast<size_t>(id)];
    change(logit, logit > 0 ? logit / repetition_ : logit * repetition_);
  }
  for (const auto& [id, count] : num_generated_) {
    float& logit = logits[static_cast<size_t>(id)];
    change(logit, logit - presence_ - static_cast<float>(count) * frequency_);
  }
}

void Penalties::accept(TokenId id) {
  if (repetition_on()) remember(id);
  if (counts_on()) ++num_generated_[id];
}

void Penalties::remember(TokenId id) {
  window_.push_back(id);
  ++in_window_[id];
  if (window_.size() <= window_max_) return;
  const auto first = in_window_.find(window_.front());
  if (--first->second == 0) in_window_.erase(first);
  window_.pop_front();
}

}  // namespace evener::sample
