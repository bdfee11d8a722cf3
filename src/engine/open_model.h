#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "gguf/file.h"
#include "hf/open_folder.h"
#include "tokenizer/tokenizer.h"

namespace evener::engine {

// The model that a path names: a GGUF file, or a Hugging Face folder, seen as the file that it
// would make. Errors: those of gguf::File::open and hf::open_folder.
Result<gguf::File> open_model(const std::filesystem::path& path,
                              const hf::FolderOptions& options = {});

// The same, or for an empty path the bundled model.
Result<gguf::File> open_model_or_bundled(const std::filesystem::path& path);

// The tokenizer of a model from open_model(). Errors: those of load_tokenizer and
// hf::load_folder_tokenizer.
Result<std::unique_ptr<tokenizer::Tokenizer>> open_tokenizer(const gguf::File& model);

}  // namespace evener::engine
