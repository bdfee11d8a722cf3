#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/pass.h"

namespace evener::engine {

// What is wanted on the host of the rows that logits are computed for.
enum class Wanted {
  logits,
  best_tokens,  // four bytes a row: all that greedy decoding looks at
};

// A step as every rank of the model executes it.
struct RankPass {
  model::PassInput input;
  Wanted wanted = Wanted::logits;
};

// Neighbouring rows of what a pass gave: what was wanted; the other is empty.
struct ResultRows {
  std::span<const float> logits;         // [rows, vocab]
  std::span<const int32_t> best_tokens;  // [rows]: as device::Device::arg_max() says
};

// What a pass gave for its logit_rows: what was wanted; the other is empty.
struct PassResult {
  std::vector<float> logits;         // [logit_rows, vocab]
  std::vector<int32_t> best_tokens;  // [logit_rows]

  bool empty() const { return logits.empty() && best_tokens.empty(); }
  ResultRows rows(size_t first, size_t count, size_t vocab_size) const {
    if (best_tokens.empty()) {
      return {.logits = std::span(logits).subspan(first * vocab_size, count * vocab_size),
              .best_tokens = {}};
    }
    return {.logits = {}, .best_tokens = std::span(best_tokens).subspan(first, count)};
  }
};

}  // namespace evener::engine
