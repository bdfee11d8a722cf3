#include "hf/folder_vocab.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_fields.h"
#include "safetensors/folder_file.h"
#include "safetensors/limits.h"
#include "tokenizer/tokenizer_json.h"

namespace evener::hf {
namespace {

using tokenizer::Vocab;

constexpr uint64_t kTokenizerBytesMax = 512 << 20;  // of known ones the largest has 33 MB
constexpr size_t kEndsMax = 256;
// Embeddings are padded to multiples of up to some thousands.
constexpr uint64_t kPaddingMax = 1 << 16;

Result<std::optional<json::Value>> read_config(const std::filesystem::path& folder,
                                               const std::string& file) {
  return safetensors::read_json(folder, file, safetensors::Limits().config_bytes);
}

Result<json::Fields> fields_of(const json::Value& value, const std::filesystem::path& folder,
                               const std::string& file) {
  return json::Fields::of(value, (folder / file).string());
}

Result<Vocab> read_tokenizer(const std::filesystem::path& folder) {
  const std::string file = "tokenizer.json";
  ASSIGN_OR_RETURN(const auto text, safetensors::read_text(folder, file, kTokenizerBytesMax));
  if (text) return tokenizer::read_tokenizer_json(*text, (folder / file).string());
  return Error{.code = Code::not_found,
               .doing = "load model",
               .where = (folder / file).string(),
               .why = "there is no such file",
               .remedy = "fetch it from the model's page: other files of tokenizers are not read"};
}

Status add_config(const std::filesystem::path& folder, Vocab& vocab) {
  const std::string file = "tokenizer_config.json";
  ASSIGN_OR_RETURN(const auto value, read_config(folder, file));
  if (!value) return {};
  ASSIGN_OR_RETURN(const json::Fields config, fields_of(*value, folder, file));
  return tokenizer::add_tokenizer_config(config, vocab);
}

// eos_token_id is one id or a list of them.
Status add_ends(const json::Fields& config, Vocab& vocab) {
  constexpr std::string_view kField = "eos_token_id";
  const json::Value* value = config.find(kField);
  if (value == nullptr) return {};
  if (!value->is_array()) {
    ASSIGN_OR_RETURN(const uint64_t id, config.get_uint(kField, vocab.tokens.size() - 1));
    vocab.eog.push_back(int64_t(id));
    return {};
  }
  if (value->size() > kEndsMax) {
    Error error = config.error(
        kField, fmt::format("has {} ids, at most {} are read", value->size(), kEndsMax));
    error.code = Code::limit_exceeded;
    return error;
  }
  ASSIGN_OR_RETURN(const auto ids, config.get_uints(kField, vocab.tokens.size() - 1));
  vocab.eog.assign(ids.begin(), ids.end());
  return {};
}

Status add_padding(const json::Fields& config, Vocab& vocab) {
  constexpr std::string_view kField = "vocab_size";
  const size_t count = vocab.tokens.size();
  ASSIGN_OR_RETURN(const uint64_t size, config.get_uint_or(kField, count));
  if (size < count) {
    return config.error(kField, fmt::format("is {}, tokenizer.json has {} tokens", size, count),
                        "the files are of different models: fetch them again");
  }
  if (size - count > kPaddingMax + count) {
    return config.error(kField,
                        fmt::format("is {}, tokenizer.json has only {} tokens", size, count),
                        "the files are of different models: fetch them again");
  }
  vocab.tokens.resize(size);
  vocab.kinds.resize(size, tokenizer::TokenKind::unused);
  return {};
}

// Models that see or hear keep what concerns their text in an object of its own.
Status add_model_config(const std::filesystem::path& folder, Vocab& vocab) {
  const std::string file = "config.json";
  ASSIGN_OR_RETURN(const auto value, read_config(folder, file));
  if (!value) return {};
  ASSIGN_OR_RETURN(const json::Fields root, fields_of(*value, folder, file));
  std::vector<json::Fields> places{root};
  if (root.has("text_config")) {
    ASSIGN_OR_RETURN(const json::Fields text, root.get_object("text_config"));
    places.push_back(text);
  }
  for (const json::Fields& config : places) {
    RETURN_IF_ERROR(add_padding(config, vocab));
    if (vocab.eog.empty()) RETURN_IF_ERROR(add_ends(config, vocab));
  }
  return {};
}

Status add_generation_config(const std::filesystem::path& folder, Vocab& vocab) {
  const std::string file = "generation_config.json";
  ASSIGN_OR_RETURN(const auto value, read_config(folder, file));
  if (!value) return {};
  ASSIGN_OR_RETURN(const json::Fields config, fields_of(*value, folder, file));
  return add_ends(config, vocab);
}

}  // namespace

Result<Vocab> read_folder_vocab(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(Vocab vocab, read_tokenizer(folder));
  RETURN_IF_ERROR(add_config(folder, vocab));
  RETURN_IF_ERROR(add_generation_config(folder, vocab));
  RETURN_IF_ERROR(add_model_config(folder, vocab));
  // Here a file that does not speak of them means no, whatever kind of vocabulary it is.
  vocab.add_bos = vocab.add_bos.value_or(false);
  vocab.add_eos = vocab.add_eos.value_or(false);
  return vocab;
}

}  // namespace evener::hf
