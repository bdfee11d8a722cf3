#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "engine/load_tokenizer.h"
#include "gguf/file.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/tokenizer.h"

namespace evener::tokenizer::test {

using Ids = std::vector<TokenId>;

inline std::filesystem::path data_file(std::string_view name) {
  return std::filesystem::path(EVENER_TEST_DATA) / "tokenizer" / name;
}

inline std::unique_ptr<Tokenizer> load(std::string_view name) {
  const auto file = gguf::File::open(data_file(std::string(name) + ".gguf"));
  if (!file) throw std::runtime_error(to_string(file.error()));
  auto made = engine::load_tokenizer(*file);
  if (!made) throw std::runtime_error(to_string(made.error()));
  return *std::move(made);
}

inline std::string spelled(std::string_view bytes) {
  std::string spelling;
  for (const char byte : bytes) utf8::append(spelling, byte_to_character(uint8_t(byte)));
  return spelling;
}

// All 256 bytes, whose ids are their values, then the tokens that `merges` make. Merges are written
// with plain bytes: {"t", "h"}.
inline Vocab bpe_vocab(const std::vector<std::pair<std::string, std::string>>& merges,
                       std::string pre = "gpt-2") {
  Vocab vocab;
  vocab.pre = std::move(pre);
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char text = char(byte);
    vocab.tokens.push_back(spelled({&text, 1}));
  }
  for (const auto& [left, right] : merges) {
    vocab.tokens.push_back(spelled(left + right));
    vocab.merges.push_back(spelled(left) + " " + spelled(right));
  }
  vocab.kinds.assign(vocab.tokens.size(), TokenKind::normal);
  return vocab;
}

// <unk> <s> </s>, then the 256 byte tokens (byte b has id 3 + b), then `pieces` with falling
// scores.
inline Vocab spm_vocab(const std::vector<std::string>& pieces) {
  Vocab vocab;
  vocab.model = Vocab::Model::spm;
  vocab.tokens = {"<unk>", "<s>", "</s>"};
  vocab.kinds = {TokenKind::unknown, TokenKind::control, TokenKind::control};
  for (unsigned byte = 0; byte < 256; ++byte) {
    vocab.tokens.push_back(fmt::format("<0x{:02X}>", byte));
    vocab.kinds.push_back(TokenKind::byte);
  }
  vocab.scores.assign(vocab.tokens.size(), 0);
  for (const std::string& piece : pieces) {
    vocab.tokens.push_back(piece);
    vocab.kinds.push_back(TokenKind::normal);
    vocab.scores.push_back(-float(vocab.tokens.size()));
  }
  return vocab;
}

inline TokenId add_token(Vocab& vocab, std::string spelling, TokenKind kind) {
  vocab.tokens.push_back(std::move(spelling));
  vocab.kinds.push_back(kind);
  if (!vocab.scores.empty()) vocab.scores.push_back(0);
  return TokenId(vocab.tokens.size() - 1);
}

inline std::unique_ptr<Tokenizer> make(Vocab vocab) {
  auto made = Tokenizer::create(std::move(vocab));
  if (!made) throw std::runtime_error(to_string(made.error()));
  return *std::move(made);
}

}  // namespace evener::tokenizer::test
