#include "gguf/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace evener::gguf {
namespace {

constexpr std::string_view kTokenizerPrefix = "tokenizer.ggml.";
constexpr std::string_view kTokenIdSuffix = "_token_id";
constexpr std::string_view kTemplatePrefix = "tokenizer.chat_template.";

double bits_each(uint64_t num_bytes, uint64_t num_parameters) {
  if (num_parameters == 0) return 0;
  return 8 * static_cast<double>(num_bytes) / static_cast<double>(num_parameters);
}

struct FileType {
  uint64_t id;
  std::string_view name;
};

// general.file_type, as llama.cpp numbers its quantisation recipes.
constexpr FileType kFileTypes[] = {
    {0, "F32"},      {1, "F16"},      {2, "Q4_0"},       {3, "Q4_1"},    {7, "Q8_0"},
    {8, "Q5_0"},     {9, "Q5_1"},     {10, "Q2_K"},      {11, "Q3_K_S"}, {12, "Q3_K_M"},
    {13, "Q3_K_L"},  {14, "Q4_K_S"},  {15, "Q4_K_M"},    {16, "Q5_K_S"}, {17, "Q5_K_M"},
    {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"},    {21, "Q2_K_S"}, {22, "IQ3_XS"},
    {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"},    {26, "IQ3_S"},  {27, "IQ3_M"},
    {28, "IQ2_S"},   {29, "IQ2_M"},   {30, "IQ4_XS"},    {31, "IQ1_M"},  {32, "BF16"},
    {36, "TQ1_0"},   {37, "TQ2_0"},   {38, "MXFP4_MOE"},
};

std::optional<std::string_view> string_of(const File& file, std::string_view key) {
  const Value* value = file.find(key);
  return value == nullptr ? std::nullopt : value->as_string();
}

std::optional<uint64_t> uint_of(const File& file, std::string_view key) {
  const Value* value = file.find(key);
  return value == nullptr ? std::nullopt : value->as_uint();
}

// One number, or the smallest and largest of an array of them.
std::optional<NumberRange> range_of(const File& file, std::string_view key) {
  const auto all = file.get_uints_each(key, 1);
  if (all) return NumberRange{.min = all->front(), .max = all->front()};
  const auto numbers = file.get_uints(key);
  if (!numbers || numbers->empty()) return std::nullopt;
  const auto [min, max] = std::ranges::minmax(*numbers);
  return NumberRange{.min = min, .max = max};
}

std::optional<std::string> file_type_of(const File& file) {
  const auto id = uint_of(file, "general.file_type");
  if (!id) return std::nullopt;
  const auto* known = std::ranges::find(kFileTypes, *id, &FileType::id);
  if (known != std::end(kFileTypes)) return std::string(known->name);
  return fmt::format("number {}", *id);
}

std::vector<TypeShare> types_of(const File& file) {
  std::vector<TypeShare> shares;
  for (const Tensor& tensor : file.tensors()) {
    const bool is_plain = tensor.stored_as.empty();
    const std::string_view name = is_plain ? info(tensor.dtype).name : tensor.stored_as;
    auto at = std::ranges::find(shares, name, &TypeShare::name);
    if (at == shares.end()) {
      at = shares.insert(shares.end(), {.name = name, .dtype = tensor.dtype});
    }
    ++at->num_tensors;
    at->num_parameters += tensor.num_elements();
    at->num_bytes += is_plain ? tensor.size_bytes() : tensor.stored_bytes;
  }
  std::ranges::sort(shares, std::greater(),
                    [](const TypeShare& share) { return std::pair(share.num_bytes, share.dtype); });
  return shares;
}

void add_sizes(const File& file, Summary& summary) {
  if (!summary.family) return;
  const std::string prefix = std::string(*summary.family) + ".";
  summary.context_length = uint_of(file, prefix + "context_length");
  summary.num_layers = uint_of(file, prefix + "block_count");
  summary.num_mtp_layers = uint_of(file, prefix + "nextn_predict_layers");
  summary.hidden_size = uint_of(file, prefix + "embedding_length");
  summary.intermediate_size = range_of(file, prefix + "feed_forward_length");
  summary.num_heads = range_of(file, prefix + "attention.head_count");
  summary.num_kv_heads = range_of(file, prefix + "attention.head_count_kv");
  summary.head_dim = uint_of(file, prefix + "attention.key_length");
  summary.num_experts = uint_of(file, prefix + "expert_count");
  summary.num_experts_per_token = uint_of(file, prefix + "expert_used_count");
  summary.vocab_size = uint_of(file, prefix + "vocab_size");
}

void add_special_tokens(const File& file, Summary& summary) {
  const auto tokens = file.get_strings("tokenizer.ggml.tokens");
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with(kTokenizerPrefix) || !key.ends_with(kTokenIdSuffix)) continue;
    const auto id = value.as_uint();
    if (!id || key.size() < kTokenizerPrefix.size() + kTokenIdSuffix.size()) continue;
    std::string_view role = key.substr(kTokenizerPrefix.size());
    role.remove_suffix(kTokenIdSuffix.size());
    const bool is_listed = tokens && *id < tokens->size();
    summary.special_tokens.push_back(
        {.role = role, .id = *id, .text = is_listed ? (*tokens)[*id] : std::string_view()});
  }
}

void add_tokenizer(const File& file, Summary& summary) {
  const auto tokens = file.get_strings("tokenizer.ggml.tokens");
  if (tokens) summary.vocab_size = tokens->size();
  summary.tokenizer_model = string_of(file, "tokenizer.ggml.model");
  summary.tokenizer_pre = string_of(file, "tokenizer.ggml.pre");
  summary.chat_template = string_of(file, "tokenizer.chat_template");
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with(kTemplatePrefix) || !value.as_string()) continue;
    summary.named_chat_templates.push_back(key.substr(kTemplatePrefix.size()));
  }
  add_special_tokens(file, summary);
}

}  // namespace

double TypeShare::bits_per_weight() const { return bits_each(num_bytes, num_parameters); }

double Summary::bits_per_weight() const { return bits_each(tensor_bytes, num_parameters); }

Summary summarise(const File& file) {
  Summary summary;
  summary.family = string_of(file, "general.architecture");
  summary.name = string_of(file, "general.name");
  summary.license = string_of(file, "general.license");
  summary.file_type = file_type_of(file);
  summary.types = types_of(file);
  if (file.is_assembled() && !summary.types.empty()) {
    // No maker's recipe: what most weights are.
    summary.file_type = std::ranges::max(summary.types, {}, &TypeShare::num_parameters).name;
  }
  for (const TypeShare& share : summary.types) {
    summary.num_parameters += share.num_parameters;
    summary.tensor_bytes += share.num_bytes;
  }
  add_sizes(file, summary);
  add_tokenizer(file, summary);
  return summary;
}

}  // namespace evener::gguf
