#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sample/params.h"
#include "tokenizer/token_id.h"

namespace evener::sample {

using tokenizer::TokenId;

// Bytes of a token; the view is valid as long as the function.
using PieceOf = std::function<std::string_view(TokenId)>;

// "Don't repeat yourself": a token that would lengthen a repetition pays for it. If the last L
// tokens stood somewhere before and `next` followed there, with L >= allowed_length,
//     logit[next] -= multiplier * base^(L - allowed_length)
// for the longest such L. A repetition does not reach across a sequence breaker, a text such as
// "\n": the token in which one ends counts as different from every other, and is never made to pay.
//
// Off unless multiplier > 0; then apply() takes time linear in the window.
// Source: p-e-w's proposal in oobabooga/text-generation-webui, pull request 5677.
class Dry {
 public:
  Dry(const Params& params, std::span<const TokenId> prompt, PieceOf piece_of);

  // Every token that was given to it is below logits.size().
  void apply(std::span<float> logits);

  // `id` was appended.
  void accept(TokenId id);

 private:
  bool ends_breaker(std::string_view piece);
  void count_matches(std::span<const int64_t> window);
  float penalty(size_t length) const;

  float multiplier_;
  float base_;
  size_t allowed_length_;
  size_t window_max_;
  std::vector<std::string> breakers_;
  PieceOf piece_of_;
  std::string tail_;  // last bytes of the text, as many as a breaker can reach back
  // The text's tokens; one that ends a breaker is a negative number of its own.
  std::vector<int64_t> symbols_;
  // Of apply(): matches_[k] is how many tokens up to the k-th from the end equal the last tokens.
  std::vector<size_t> matches_;
  std::vector<std::pair<TokenId, size_t>> longest_;
};

}  // namespace evener::sample
