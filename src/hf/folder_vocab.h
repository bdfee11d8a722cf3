#pragma once

#include <filesystem>

#include "base/error.h"
#include "tokenizer/vocab.h"

namespace evener::hf {

// The vocabulary of a Hugging Face folder: tokenizer.json; what tokenizer_config.json adds; the
// ends of a generation that generation_config.json names, or else config.json; and unused tokens up
// to the vocab_size of config.json, which is the number of rows of the model's embeddings. Only
// tokenizer.json must be there.
//
// Errors: not_found (no tokenizer.json), those of read_tokenizer_json and json::parse,
// limit_exceeded, corrupt (more tokens than vocab_size); all name file and field.
Result<tokenizer::Vocab> read_folder_vocab(const std::filesystem::path& folder);

}  // namespace evener::hf
