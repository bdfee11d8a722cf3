#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "sample/candidates.h"
#include "sample/dry.h"
#include "sample/params.h"
#include "sample/penalties.h"

namespace evener::sample {

// Memory for one choice, shared by all sequences of a thread.
struct Workspace {
  std::vector<float> logits;
  Candidates candidates;
};

// Chooses the tokens of one sequence, in the order of stages that params.h states. Deterministic:
// the n-th choice depends on the parameters, the tokens before it and its logits, and on nothing
// else. One thread at a time.
class Sampler {
 public:
  // `params` passed check(). `piece_of` is asked for only if DRY is on, and must outlive it.
  Sampler(const Params& params, std::span<const TokenId> prompt, PieceOf piece_of);

  // False: choose() looks for the largest finite logit and at nothing else.
  bool needs_logits() const { return params_.temperature != 0 || changes_logits(); }

  // logits [vocab]; what is not finite, or in `forbidden`, is not chosen. Error: internal if
  // nothing is left.
  Result<TokenId> choose(std::span<const float> logits, std::span<const TokenId> forbidden,
                         Workspace& workspace);

  // The same unless it needs logits, with nothing forbidden: `best` is what arg_max() says of them,
  // -1 if that is nothing.
  Result<TokenId> choose_best(TokenId best) const;

  // `id` is the sequence's next token.
  void accept(TokenId id);

 private:
  void adjust(std::span<float> logits);
  bool changes_logits() const;

  Params params_;
  Penalties penalties_;
  Dry dry_;
  uint64_t num_accepted_ = 0;
};

}  // namespace evener::sample
