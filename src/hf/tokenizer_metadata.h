#pragma once

#include <filesystem>

#include "base/error.h"
#include "gguf/header.h"

namespace evener::hf {

// Sets in `header` what a GGUF file says of its tokenizer (tokenizer.ggml.*,
// tokenizer.chat_template) from the files of a Hugging Face folder. Ids without a token, up to the
// vocab_size of config.json, become unused tokens [PADn]. A vocabulary with marks for spaces
// becomes one with scores, the place of a token's first merge, as GGUF has no merges for it.
//
// What GGUF has no words for is refused where it changes common texts (a rule for words that no
// name of tokenizer.ggml.pre stands for, a normal form other than C) and warned of where it changes
// rare ones (the form C, white space that special tokens take along). Errors: those of
// read_folder_vocab, read_chat_template and Tokenizer::create; unsupported.
//
// Judge: tests/hf/tokenizer_metadata_test.cpp.
Status add_tokenizer_metadata(const std::filesystem::path& folder, gguf::Header& header);

}  // namespace evener::hf
