#include "engine/load_tokenizer.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace evener::engine {
namespace {

using tokenizer::TokenKind;
using tokenizer::Vocab;

std::string key(std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); }

// GGUF's numbers for token types; what has no number there is a filler.
TokenKind kind_of(int64_t type) {
  switch (type) {
    case 1:
      return TokenKind::normal;
    case 2:
      return TokenKind::unknown;
    case 3:
      return TokenKind::control;
    case 4:
      return TokenKind::user_defined;
    case 6:
      return TokenKind::byte;
    default:
      return TokenKind::unused;
  }
}

Result<Vocab::Model> read_model(const gguf::File& file) {
  ASSIGN_OR_RETURN(const auto model, file.get_string(key("model")));
  if (model == "gpt2") return Vocab::Model::bpe;
  if (model == "llama") return Vocab::Model::spm;
  return Error{
      .code = Code::unsupported,
      .doing = "make a tokenizer",
      .where = fmt::format("{}, key '{}'", file.name(), key("model")),
      .why = fmt::format("'{}' is not a kind of tokenizer that Evener has", printable(model)),
      .remedy = "it has gpt2 (byte-level BPE) and llama (SentencePiece)"};
}

Result<std::vector<std::string>> read_strings(const gguf::File& file, std::string_view name) {
  ASSIGN_OR_RETURN(const auto strings, file.get_strings(key(name)));
  return std::vector<std::string>(strings.begin(), strings.end());
}

// Lists that files may have longer than the vocabulary; llama.cpp reads only as far as it goes.
template <class T>
void cut(std::vector<T>& list, size_t size) {
  if (list.size() > size) list.resize(size);
}

Status read_lists(const gguf::File& file, Vocab& vocab) {
  ASSIGN_OR_RETURN(vocab.tokens, read_strings(file, "tokens"));
  if (file.has(key("scores"))) {
    ASSIGN_OR_RETURN(vocab.scores, file.get_floats(key("scores")));
    cut(vocab.scores, vocab.tokens.size());
  }
  if (file.has(key("token_type"))) {
    ASSIGN_OR_RETURN(const auto types, file.get_ints(key("token_type")));
    for (const int64_t type : types) vocab.kinds.push_back(kind_of(type));
    cut(vocab.kinds, vocab.tokens.size());
  }
  if (vocab.model == Vocab::Model::bpe) {
    ASSIGN_OR_RETURN(vocab.merges, read_strings(file, "merges"));
  }
  return {};
}

struct IdKey {
  std::string_view name;
  std::optional<int64_t> Vocab::* field;
};

// Where a file has both, the last row wins: prefix, suffix and middle are older names.
constexpr IdKey kIdKeys[] = {
    {"bos_token_id", &Vocab::bos},         {"eos_token_id", &Vocab::eos},
    {"unknown_token_id", &Vocab::unk},     {"padding_token_id", &Vocab::pad},
    {"eot_token_id", &Vocab::eot},         {"eom_token_id", &Vocab::eom},
    {"fim_pre_token_id", &Vocab::fim_pre}, {"fim_suf_token_id", &Vocab::fim_suf},
    {"fim_mid_token_id", &Vocab::fim_mid}, {"fim_pad_token_id", &Vocab::fim_pad},
    {"fim_rep_token_id", &Vocab::fim_rep}, {"fim_sep_token_id", &Vocab::fim_sep},
    {"prefix_token_id", &Vocab::fim_pre},  {"suffix_token_id", &Vocab::fim_suf},
    {"middle_token_id", &Vocab::fim_mid},
};

struct FlagKey {
  std::string_view name;
  std::optional<bool> Vocab::* field;
};

constexpr FlagKey kFlagKeys[] = {
    {"add_bos_token", &Vocab::add_bos},
    {"add_eos_token", &Vocab::add_eos},
    {"add_space_prefix", &Vocab::add_space_prefix},
};

Status read_fields(const gguf::File& file, Vocab& vocab) {
  for (const IdKey& row : kIdKeys) {
    if (!file.has(key(row.name))) continue;
    ASSIGN_OR_RETURN(vocab.*row.field, file.get_int(key(row.name)));
  }
  for (const FlagKey& row : kFlagKeys) {
    if (!file.has(key(row.name))) continue;
    ASSIGN_OR_RETURN(vocab.*row.field, file.get_bool(key(row.name)));
  }
  ASSIGN_OR_RETURN(const auto pre, file.get_string_or(key("pre"), ""));
  vocab.pre = pre;
  return {};
}

Result<Vocab> read_vocab(const gguf::File& file) {
  Vocab vocab;
  ASSIGN_OR_RETURN(vocab.model, read_model(file));
  RETURN_IF_ERROR(read_lists(file, vocab));
  RETURN_IF_ERROR(read_fields(file, vocab));
  return vocab;
}

}  // namespace

Result<std::unique_ptr<tokenizer::Tokenizer>> load_tokenizer(const gguf::File& file) {
  ASSIGN_OR_RETURN(Vocab vocab, read_vocab(file));
  auto result = tokenizer::Tokenizer::create(std::move(vocab));
  if (result) return result;
  Error error = std::move(result).error();
  error.where = fmt::format("{}, {}", file.name(), error.where);
  return error;
}

}  // namespace evener::engine
