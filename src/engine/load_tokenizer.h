#pragma once

#include <memory>

#include "base/error.h"
#include "gguf/file.h"
#include "tokenizer/tokenizer.h"

namespace evener::engine {

// The tokenizer that a model file carries in its tokenizer.ggml.* metadata. It keeps nothing of the
// file. Errors: those of gguf::File's getters and Tokenizer::create, where the file is named; not
// found when there is no tokenizer in it; unsupported for a tokenizer.ggml.model other than gpt2
// and llama.
Result<std::unique_ptr<tokenizer::Tokenizer>> load_tokenizer(const gguf::File& file);

}  // namespace evener::engine
