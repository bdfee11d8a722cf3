#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json_fields.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// Fills in what the normalizer, pre_tokenizer, decoder and post_processor of a tokenizer.json say:
// model, normal_form, splits, space prefix, bos and eos. `vocab` has its tokens. Errors: corrupt,
// unsupported, naming the field.
Status read_tokenizer_rules(const json::Fields& root, Vocab& vocab);

// The id of a token by its spelling; one after the other, so not for many. Nothing if there is
// none.
std::optional<TokenId> find_token(const Vocab& vocab, std::string_view spelling);

}  // namespace evener::tokenizer
