#include "sample/logprobs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "sample/arg_max.h"

namespace evener::sample {

Logprobs::Logprobs(std::span<const float> logits) : logits_(logits) {
  const auto best = arg_max(logits);
  EVENER_ASSERT(best);
  const float max = logits[static_cast<size_t>(*best)];
  double sum = 0;
  for (const float logit : logits) {
    if (std::isfinite(logit)) sum += static_cast<double>(std::exp(logit - max));
  }
  log_sum_ = double{max} + std::log(sum);
}

float Logprobs::of(TokenId id) const {
  const float logit = logits_[static_cast<size_t>(id)];
  if (!std::isfinite(logit)) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(double{logit} - log_sum_);
}

std::vector<TokenId> Logprobs::likeliest(size_t count) const {
  // Few of many: a heap of the best so far, the worst of them on top.
  std::vector<Candidate> heap;
  for (size_t id = 0; count > 0 && id < logits_.size(); ++id) {
    const Candidate candidate{.id = static_cast<TokenId>(id), .logit = logits_[id]};
    if (!std::isfinite(candidate.logit)) continue;
    if (heap.size() == count) {
      if (!likelier(candidate, heap.front())) continue;
      std::ranges::pop_heap(heap, likelier);
      heap.pop_back();
    }
    heap.push_back(candidate);
    std::ranges::push_heap(heap, likelier);
  }
  std::ranges::sort_heap(heap, likelier);
  std::vector<TokenId> ids;
  ids.reserve(heap.size());
  for (const Candidate& candidate : heap) ids.push_back(candidate.id);
  return ids;
}

}  // namespace evener::sample
