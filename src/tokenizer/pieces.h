#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// The bytes that each token stands for. Special tokens stand for their spelling; normal ones are
// translated from the vocabulary's alphabet; what is not of that alphabet stands for itself.
class Pieces {
 public:
  explicit Pieces(const Vocab& vocab);  // `kinds` must have one entry a token

  // `id` must be inside the vocabulary.
  std::string_view operator[](TokenId id) const;

 private:
  std::string bytes_;
  std::vector<size_t> ends_;  // of piece i in bytes_; it begins where the one before ends
};

}  // namespace evener::tokenizer
