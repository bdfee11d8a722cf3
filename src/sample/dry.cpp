#include "sample/dry.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sample/finite.h"

namespace evener::sample {

Dry::Dry(const Params& params, std::span<const TokenId> prompt, PieceOf piece_of)
    : multiplier_(params.dry_penalty_last_n == 0 ? 0 : params.dry_multiplier),
      base_(params.dry_base),
      allowed_length_(static_cast<size_t>(params.dry_allowed_length)),
      window_max_(params.dry_penalty_last_n < 0 ? SIZE_MAX : size_t(params.dry_penalty_last_n)),
      breakers_(params.dry_sequence_breakers),
      piece_of_(std::move(piece_of)) {
  for (const TokenId id : prompt) accept(id);
}

void Dry::accept(TokenId id) {
  if (multiplier_ <= 0) return;
  const bool breaks = !breakers_.empty() && ends_breaker(piece_of_(id));
  symbols_.push_back(breaks ? -1 - static_cast<int64_t>(symbols_.size()) : int64_t{id});
}

// Whether some breaker's last byte lies in `piece`, which is appended to the text.
bool Dry::ends_breaker(std::string_view piece) {
  const size_t piece_begin = tail_.size();
  tail_ += piece;
  size_t reach = 0;
  bool found = false;
  for (const std::string& breaker : breakers_) {
    const size_t overlap = breaker.size() - 1;
    reach = std::max(reach, overlap);
    const size_t begin = piece_begin - std::min(piece_begin, overlap);
    found = found || tail_.find(breaker, begin) != std::string::npos;
  }
  if (tail_.size() > reach) tail_.erase(0, tail_.size() - reach);
  return found;
}

// The Z function of the window read backwards: every match length in linear time.
void Dry::count_matches(std::span<const int64_t> window) {
  const size_t size = window.size();
  const auto from_end = [&](size_t k) { return window[size - 1 - k]; };
  matches_.assign(size, 0);
  size_t begin = 0;  // of the match that reaches farthest back
  size_t end = 0;
  for (size_t k = 1; k < size; ++k) {
    size_t length = k < end ? std::min(matches_[k - begin], end - k) : 0;
    while (k + length < size && from_end(length) == from_end(k + length)) ++length;
    matches_[k] = length;
    if (k + length > end) {
      begin = k;
      end = k + length;
    }
  }
}

float Dry::penalty(size_t length) const {
  return multiplier_ * std::pow(base_, static_cast<float>(length - allowed_length_));
}

void Dry::apply(std::span<float> logits) {
  if (multiplier_ <= 0) return;
  std::span<const int64_t> window = symbols_;
  if (window.size() > window_max_) window = window.last(window_max_);
  count_matches(window);
  longest_.clear();
  for (size_t k = 1; k < window.size(); ++k) {
    const int64_t next = window[window.size() - k];
    if (matches_[k] < allowed_length_ || next < 0) continue;
    longest_.emplace_back(static_cast<TokenId>(next), matches_[k]);
  }
  std::ranges::sort(longest_, std::ranges::greater());
  for (size_t i = 0; i < longest_.size(); ++i) {
    const auto [id, length] = longest_[i];
    if (i > 0 && longest_[i - 1].first == id) continue;  // a shorter one
    float& logit = logits[static_cast<size_t>(id)];
    if (std::isfinite(logit)) logit = clamp_finite(logit - penalty(length));
  }
}

}  // namespace evener::sample
