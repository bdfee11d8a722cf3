#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"
#include "tensor/dtype.h"

namespace evener::gguf {

// What the tensors of one type amount to, as they are stored.
struct TypeShare {
  std::string_view name;  // "Q8_0"; of what no GGUF file holds, "FP8"
  DType dtype = DType::F32;
  uint64_t num_tensors = 0;
  uint64_t num_parameters = 0;
  uint64_t num_bytes = 0;

  double bits_per_weight() const;
};

// A hyperparameter that is one number, or one a layer.
struct NumberRange {
  uint64_t min = 0;
  uint64_t max = 0;
};

// "bos" = token 1, "<s>". `text` is empty if the vocabulary has no such token.
struct SpecialToken {
  std::string_view role;
  uint64_t id = 0;
  std::string_view text;
};

// The facts about a model that its file states, for people. Nothing here is checked beyond its
// type: whether a family can run is the business of model/. What the file does not say, or says as
// another kind of value, is absent. Views point into the File.
struct Summary {
  std::optional<std::string_view> family;  // general.architecture
  std::optional<std::string_view> name;    // general.name
  std::optional<std::string_view> license;
  // "Q4_K_M": the recipe the maker says he used; of other files than GGUF, the most used type.
  std::optional<std::string> file_type;

  uint64_t num_parameters = 0;   // of all tensors
  uint64_t tensor_bytes = 0;     // without metadata and padding
  std::vector<TypeShare> types;  // most bytes first

  std::optional<uint64_t> context_length;  // tokens it was trained for
  std::optional<uint64_t> num_layers;      // MTP layers included
  std::optional<uint64_t> num_mtp_layers;  // absent: the file does not say, so there are none
  std::optional<uint64_t> hidden_size;
  std::optional<NumberRange> intermediate_size;
  std::optional<NumberRange> num_heads;
  std::optional<NumberRange> num_kv_heads;
  std::optional<uint64_t> head_dim;
  std::optional<uint64_t> num_experts;
  std::optional<uint64_t> num_experts_per_token;

  std::optional<uint64_t> vocab_size;  // tokens listed, else the stated number
  std::optional<std::string_view>
      tokenizer_model;                            // "gpt2": byte-level BPE, "llama": SentencePiece
  std::optional<std::string_view> tokenizer_pre;  // how text is cut before merging
  std::vector<SpecialToken> special_tokens;       // in file order
  std::optional<std::string_view> chat_template;  // the default one
  std::vector<std::string_view> named_chat_templates;  // "tool_use", ...

  double bits_per_weight() const;  // 0 without parameters
};

Summary summarise(const File& file);

}  // namespace evener::gguf
