#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json_fields.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// The vocabulary that a tokenizer.json states: BPE, either byte-level (pre_tokenizer ByteLevel) or
// with U+2581 for spaces and byte fallback. Parts that no such vocabulary needs, and rules that
// Evener would read differently, are refused by name.
//
// `where` names the file in errors. Errors: corrupt, limit_exceeded, unsupported; each names the
// field. Source: the format of Hugging Face's tokenizers. Judges:
// tests/tokenizer/tokenizer_json_test.cpp, tests/peer/tokenizer.sh,
// tests/fuzz/tokenizer_json_fuzz.cpp.
Result<Vocab> read_tokenizer_json(std::string_view text, std::string_view where);

// What tokenizer_config.json adds: tokens of added_tokens_decoder that tokenizer.json lacks;
// bos_token, eos_token, pad_token, unk_token; add_bos_token and add_eos_token. A token that the
// vocabulary lacks even so is an error (corrupt).
Status add_tokenizer_config(const json::Fields& config, Vocab& vocab);

}  // namespace evener::tokenizer
