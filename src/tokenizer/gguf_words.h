#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// How a GGUF file says what a Vocab says, for who reads and who writes such a file.

// "tokenizer.ggml.NAME".
inline std::string gguf_key(std::string_view name) {
  return std::string("tokenizer.ggml.").append(name);
}

// The values of tokenizer.ggml.model.
inline constexpr std::string_view kGgufBpe = "gpt2";
inline constexpr std::string_view kGgufSpm = "llama";

// The numbers in tokenizer.ggml.token_type; what has no number there is a filler.
constexpr int32_t gguf_token_type(TokenKind kind) {
  switch (kind) {
    case TokenKind::normal:
      return 1;
    case TokenKind::unknown:
      return 2;
    case TokenKind::control:
      return 3;
    case TokenKind::user_defined:
      return 4;
    case TokenKind::unused:
      return 5;
    case TokenKind::byte:
      return 6;
  }
  return 5;
}

constexpr TokenKind kind_of_gguf_type(int64_t type) {
  for (const TokenKind kind : {TokenKind::normal, TokenKind::unknown, TokenKind::control,
                               TokenKind::user_defined, TokenKind::byte}) {
    if (gguf_token_type(kind) == type) return kind;
  }
  return TokenKind::unused;
}

struct GgufIdKey {
  std::string_view name;
  std::optional<int64_t> Vocab::* field;
};

// Where a file has both, the last row wins: prefix, suffix and middle are older names.
inline constexpr auto kGgufIdKeys = std::to_array<GgufIdKey>({
    {"bos_token_id", &Vocab::bos},
    {"eos_token_id", &Vocab::eos},
    {"unknown_token_id", &Vocab::unk},
    {"padding_token_id", &Vocab::pad},
    {"eot_token_id", &Vocab::eot},
    {"eom_token_id", &Vocab::eom},
    {"fim_pre_token_id", &Vocab::fim_pre},
    {"fim_suf_token_id", &Vocab::fim_suf},
    {"fim_mid_token_id", &Vocab::fim_mid},
    {"fim_pad_token_id", &Vocab::fim_pad},
    {"fim_rep_token_id", &Vocab::fim_rep},
    {"fim_sep_token_id", &Vocab::fim_sep},
    {"prefix_token_id", &Vocab::fim_pre},
    {"suffix_token_id", &Vocab::fim_suf},
    {"middle_token_id", &Vocab::fim_mid},
});

struct GgufFlagKey {
  std::string_view name;
  std::optional<bool> Vocab::* field;
};

inline constexpr auto kGgufFlagKeys = std::to_array<GgufFlagKey>({
    {"add_bos_token", &Vocab::add_bos},
    {"add_eos_token", &Vocab::add_eos},
    {"add_space_prefix", &Vocab::add_space_prefix},
});

}  // namespace evener::tokenizer
