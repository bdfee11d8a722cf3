#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

namespace evener::hf {

// The tokenizer of a Hugging Face folder, whatever pattern its tokenizer.json splits words by. It
// keeps nothing of the files. Errors: those of read_folder_vocab and Tokenizer::create.
//
// Judge: tests/hf/folder_tokenizer_test.cpp.
Result<std::unique_ptr<tokenizer::Tokenizer>> load_folder_tokenizer(
    const std::filesystem::path& folder);

// The template that the folder renders messages with: chat_template.jinja, or else chat_template of
// tokenizer_config.json, which is one text or a list of named ones, of which "default" is taken.
// Empty if there is none. Errors: corrupt, limit_exceeded.
Result<std::string> read_chat_template(const std::filesystem::path& folder);

}  // namespace evener::hf
