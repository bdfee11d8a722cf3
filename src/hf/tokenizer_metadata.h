#pragma once

#include <filesystem>

#include "base/error.h"
#include "gguf/header.h"

namespace evener::hf {

// Sets in `header` what a GGUF file says of its tokenizer (tokenizer.ggml.*,
// tokenizer.chat_template) from the files of a Hugging Face folder. Errors: corrupt, unsupported (a
// tokenizer that GGUF has no words for), naming file and field.
Status add_tokenizer_metadata(const std::filesystem::path& folder, gguf::Header& header);

}  // namespace evener::hf
