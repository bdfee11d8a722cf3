#include "serve/completion_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace evener::serve {
namespace {

constexpr size_t kMaxSequences = 256;     // prompts times n
constexpr size_t kDefaultMaxTokens = 16;  // of the protocol

bool is_token(const Json& value, size_t vocab_size) {
  return value.is_number_unsigned() && value.get<uint64_t>() < vocab_size;
}

class PromptReader {
 public:
  PromptReader(Fields& fields, const Generator& generator)
      : fields_(fields), generator_(generator), vocab_size_(generator.facts().vocab_size) {}

  void read() {
    const Json* prompt = fields_.find("prompt");
    if (!prompt) {
      fields_.invalid(
          "prompt", "must be a string, a list of strings, a list of token ids or a list of those");
      return;
    }
    const bool many = prompt->is_array() && (prompt->empty() || !prompt->front().is_number());
    if (many) {
      read_list(*prompt);
    } else {
      add(*prompt, "prompt");
    }
  }

  std::vector<std::vector<TokenId>> take_prompts() { return std::move(prompts_); }
  std::vector<std::string> take_texts() { return std::move(texts_); }

 private:
  void read_list(const Json& list) {
    if (list.empty() || list.size() > kMaxSequences) {
      return fields_.invalid("prompt",
                             fmt::format("must be a list of 1 to {} prompts", kMaxSequences));
    }
    for (size_t i = 0; i < list.size() && !fields_.error(); ++i) {
      add(list[i], fmt::format("prompt[{}]", i));
    }
  }

  void add(const Json& prompt, const std::string& name) {
    std::vector<TokenId> ids;
    if (prompt.is_string()) {
      ids = generator_.tokenize(prompt.get_ref<const std::string&>(),
                                {.add_bos = true, .parse_special = true});
    } else if (!prompt.is_array()) {
      return fields_.invalid(name, "must be a string or a list of token ids");
    } else if (!read_tokens(prompt, name, ids)) {
      return;
    }
    if (ids.empty()) return fields_.invalid(name, "must not be empty");
    texts_.push_back(prompt.is_string() ? prompt.get<std::string>() : generator_.detokenize(ids));
    prompts_.push_back(std::move(ids));
  }

  bool read_tokens(const Json& list, const std::string& name, std::vector<TokenId>& ids) {
    for (const Json& id : list) {
      if (!is_token(id, vocab_size_)) {
        fields_.invalid(name, fmt::format("must hold token ids from 0 to {}", vocab_size_ - 1));
        return false;
      }
      ids.push_back(static_cast<TokenId>(id.get<uint64_t>()));
    }
    return true;
  }

  Fields& fields_;
  const Generator& generator_;
  size_t vocab_size_;
  std::vector<std::vector<TokenId>> prompts_;
  std::vector<std::string> texts_;
};

void refuse_what_is_missing(Fields& fields) {
  if (fields.has("suffix") && *fields.find("suffix") != "") {
    fields.fail(
        not_supported("suffix", "suffix: this model has no tokens for filling in the middle"));
  }
}

// Best of n is answered by giving all n.
void read_best_of(Fields& fields, const GenerationFields& generation) {
  const auto best_of = fields.integer("best_of", {.min = 1, .max = 8});
  if (best_of && static_cast<size_t>(*best_of) != generation.num_choices) {
    fields.fail(not_supported("best_of", "best_of: must equal n; answers are not ranked"));
  }
}

}  // namespace

std::expected<CompletionRequest, ApiError> parse_completion_request(const Json& body,
                                                                    const Generator& generator) {
  Fields fields(body);
  CompletionRequest out;
  fields.string("model", 1024);
  out.generation = read_generation_fields(fields, generator.facts().vocab_size);
  read_best_of(fields, out.generation);
  out.echo = fields.boolean("echo").value_or(false);
  const auto num_top = fields.integer("logprobs", {.min = 0, .max = 20});
  if (num_top) out.num_top_logprobs = static_cast<size_t>(*num_top);
  refuse_what_is_missing(fields);
  if (!fields.has("max_tokens") && !fields.has("max_completion_tokens")) {
    out.generation.max_tokens = kDefaultMaxTokens;
  }
  out.prompt_only = out.generation.max_tokens == size_t{0};
  if (out.prompt_only && !out.echo) fields.invalid("max_tokens", "must be at least 1 without echo");
  if (!fields.error()) {
    PromptReader reader(fields, generator);
    reader.read();
    out.prompts = reader.take_prompts();
    out.prompt_texts = reader.take_texts();
  }
  if (out.prompts.size() * out.generation.num_choices > kMaxSequences) {
    fields.invalid("n",
                   fmt::format("times the number of prompts must be at most {}", kMaxSequences));
  }
  if (fields.error()) return std::unexpected(*fields.error());
  return out;
}

}  // namespace evener::serve
