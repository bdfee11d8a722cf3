#pragma once

#include <optional>
#include <vector>

#include "tokenizer/token_id.h"
#include "tokenizer/token_table.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// Which tokens have a role, after what the file says and what tokens are called.
struct Roles {
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> unk;
  std::optional<TokenId> pad;
  std::optional<TokenId> eot;
  std::optional<TokenId> eom;
  std::vector<TokenId> eog;  // ascending
};

// Finds the roles and corrects `vocab.kinds` (one a token) where a token's name shows that the file
// has its kind wrong: files often call <|im_end|> a normal token. The rules are llama.cpp's, so
// that a file works here as it does there; only that a BPE file without bos and eos has none,
// where llama.cpp takes token 11.
Roles assign_roles(Vocab& vocab, const TokenTable& table);

}  // namespace evener::tokenizer
