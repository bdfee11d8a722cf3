#include "hf/folder_tokenizer.h"

#include <fmt/format.h>

#include <utility>

#include "base/json_fields.h"
#include "base/utf8.h"
#include "hf/folder_vocab.h"
#include "safetensors/folder_file.h"
#include "safetensors/limits.h"

namespace evener::hf {
namespace {

constexpr uint64_t kTemplateBytesMax = 4 << 20;

Result<std::string> default_template(const json::Fields& config, const json::Value& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    ASSIGN_OR_RETURN(
        const json::Fields row,
        json::Fields::of(list[i], fmt::format("{}, field 'chat_template.{}'", config.where(), i)));
    ASSIGN_OR_RETURN(const auto name, row.get_string("name"));
    if (name != "default") continue;
    ASSIGN_OR_RETURN(const auto text, row.get_string("template"));
    return std::string(text);
  }
  return std::string();
}

Result<std::string> template_of_config(const std::filesystem::path& folder) {
  const std::string file = "tokenizer_config.json";
  ASSIGN_OR_RETURN(const auto value,
                   safetensors::read_json(folder, file, safetensors::Limits().config_bytes));
  if (!value) return std::string();
  ASSIGN_OR_RETURN(const json::Fields config, json::Fields::of(*value, (folder / file).string()));
  const json::Value* field = config.find("chat_template");
  if (field != nullptr && field->is_array()) return default_template(config, *field);
  ASSIGN_OR_RETURN(const auto text, config.get_string_or("chat_template", ""));
  return std::string(text);
}

}  // namespace

Result<std::unique_ptr<tokenizer::Tokenizer>> load_folder_tokenizer(
    const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(tokenizer::Vocab vocab, read_folder_vocab(folder));
  auto result = tokenizer::Tokenizer::create(std::move(vocab));
  if (result) return result;
  Error error = std::move(result).error();
  error.where = fmt::format("{}, {}", (folder / "tokenizer.json").string(), error.where);
  return error;
}

Result<std::string> read_chat_template(const std::filesystem::path& folder) {
  const std::string file = "chat_template.jinja";
  ASSIGN_OR_RETURN(auto text, safetensors::read_text(folder, file, kTemplateBytesMax));
  if (!text) return template_of_config(folder);
  if (utf8::is_valid(*text)) return *std::move(text);
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = (folder / file).string(),
               .why = "is not valid UTF-8",
               .remedy = "the file is cut short or damaged: fetch it again"};
}

}  // namespace evener::hf
