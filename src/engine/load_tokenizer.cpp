#include "engine/load_tokenizer.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tokenizer/gguf_words.h"

namespace evener::engine {
namespace {

using tokenizer::gguf_key;
using tokenizer::Vocab;

Result<Vocab::Model> read_model(const gguf::File& file) {
  ASSIGN_OR_RETURN(const auto model, file.get_string(gguf_key("model")));
  if (model == tokenizer::kGgufBpe) return Vocab::Model::bpe;
  if (model == tokenizer::kGgufSpm) return Vocab::Model::spm;
  return Error{
      .code = Code::unsupported,
      .doing = "make a tokenizer",
      .where = fmt::format("{}, key '{}'", file.name(), gguf_key("model")),
      .why = fmt::format("'{}' is not a kind of tokenizer that Evener has", printable(model)),
      .remedy = "it has gpt2 (byte-level BPE) and llama (SentencePiece)"};
}

Result<std::vector<std::string>> read_strings(const gguf::File& file, std::string_view name) {
  ASSIGN_OR_RETURN(const auto strings, file.get_strings(gguf_key(name)));
  return std::vector<std::string>(strings.begin(), strings.end());
}

// Lists that files may have longer than the vocabulary; llama.cpp reads only as far as it goes.
template <class T>
void cut(std::vector<T>& list, size_t size) {
  if (list.size() > size) list.resize(size);
}

Status read_lists(const gguf::File& file, Vocab& vocab) {
  ASSIGN_OR_RETURN(vocab.tokens, read_strings(file, "tokens"));
  if (file.has(gguf_key("scores"))) {
    ASSIGN_OR_RETURN(vocab.scores, file.get_floats(gguf_key("scores")));
    cut(vocab.scores, vocab.tokens.size());
  }
  if (file.has(gguf_key("token_type"))) {
    ASSIGN_OR_RETURN(const auto types, file.get_ints(gguf_key("token_type")));
    for (const int64_t type : types) vocab.kinds.push_back(tokenizer::kind_of_gguf_type(type));
    cut(vocab.kinds, vocab.tokens.size());
  }
  if (vocab.model == Vocab::Model::bpe) {
    ASSIGN_OR_RETURN(vocab.merges, read_strings(file, "merges"));
  }
  return {};
}

Status read_fields(const gguf::File& file, Vocab& vocab) {
  for (const auto& row : tokenizer::kGgufIdKeys) {
    if (!file.has(gguf_key(row.name))) continue;
    ASSIGN_OR_RETURN(vocab.*row.field, file.get_int(gguf_key(row.name)));
  }
  for (const auto& row : tokenizer::kGgufFlagKeys) {
    if (!file.has(gguf_key(row.name))) continue;
    ASSIGN_OR_RETURN(vocab.*row.field, file.get_bool(gguf_key(row.name)));
  }
  ASSIGN_OR_RETURN(const auto pre, file.get_string_or(gguf_key("pre"), ""));
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
