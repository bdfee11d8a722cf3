#include "serve/generation_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "serve/random.h"

namespace evener::serve {
namespace {

constexpr int64_t kMaxChoices = 8;
constexpr StringLimits kStopLimits{.count_max = 16, .bytes_max = 1024};
constexpr size_t kMaxStopTokens = 1024;
constexpr size_t kMaxBiases = 4096;

void set(float& target, std::optional<double> value) {
  if (value) target = static_cast<float>(*value);
}

void set(int32_t& target, std::optional<int64_t> value) {
  if (value) target = static_cast<int32_t>(*value);
}

void read_cuts(Fields& fields, sample::Params& out) {
  set(out.temperature, fields.number("temperature", {.min = 0, .max = 100}));
  set(out.top_k, fields.integer("top_k", {.min = -1, .max = 1'000'000}));
  if (out.top_k < 0) out.top_k = 0;
  set(out.top_p, fields.number("top_p", {.min = 0, .max = 1}));
  set(out.min_p, fields.number("min_p", {.min = 0, .max = 1}));
  set(out.typical_p, fields.number("typical_p", {.min = 0, .max = 1}));
}

void read_penalties(Fields& fields, sample::Params& out) {
  set(out.presence_penalty, fields.number("presence_penalty", {.min = -2, .max = 2}));
  set(out.frequency_penalty, fields.number("frequency_penalty", {.min = -2, .max = 2}));
  set(out.repetition_penalty, fields.number("repeat_penalty", {.min = 0.01, .max = 10}));
  set(out.repetition_penalty, fields.number("repetition_penalty", {.min = 0.01, .max = 10}));
  set(out.penalty_last_n, fields.integer("repeat_last_n", {.min = -1, .max = INT32_MAX}));
}

void read_dry(Fields& fields, sample::Params& out) {
  set(out.dry_multiplier, fields.number("dry_multiplier", {.min = 0, .max = 100}));
  set(out.dry_base, fields.number("dry_base", {.min = 1, .max = 100}));
  set(out.dry_allowed_length, fields.integer("dry_allowed_length", {.min = 1, .max = INT32_MAX}));
  set(out.dry_penalty_last_n, fields.integer("dry_penalty_last_n", {.min = -1, .max = INT32_MAX}));
  if (fields.has("dry_sequence_breakers")) {
    out.dry_sequence_breakers =
        fields.strings("dry_sequence_breakers", {.count_max = 64, .bytes_max = 64});
  }
}

std::optional<int32_t> token_of_key(std::string_view key, size_t vocab_size) {
  int32_t id = -1;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
  if (id < 0 || static_cast<size_t>(id) >= vocab_size) return std::nullopt;
  return id;
}

void read_logit_bias(Fields& fields, size_t vocab_size, sample::Params& out) {
  const Json* biases = fields.object("logit_bias");
  if (!biases) return;
  if (biases->size() > kMaxBiases) {
    return fields.invalid("logit_bias", fmt::format("must have at most {} entries", kMaxBiases));
  }
  for (const auto& [key, value] : biases->items()) {
    const std::string name = "logit_bias." + printable(key, 40);
    const auto id = token_of_key(key, vocab_size);
    if (!id) {
      return fields.invalid(name, fmt::format("must be named by a token id below {}", vocab_size));
    }
    if (!value.is_number() || !(value.get<double>() >= -100 && value.get<double>() <= 100)) {
      return fields.invalid(name, "must be a number between -100 and 100");
    }
    out.logit_bias.emplace_back(*id, value.get<float>());
  }
}

void read_stop_tokens(Fields& fields, size_t vocab_size, GenerationFields& out) {
  const Json* ids = fields.array("stop_token_ids", kMaxStopTokens);
  if (!ids) return;
  for (const Json& id : *ids) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= vocab_size) {
      return fields.invalid("stop_token_ids",
                            fmt::format("must hold token ids from 0 to {}", vocab_size - 1));
    }
    out.stop_token_ids.push_back(static_cast<engine::TokenId>(id.get<uint64_t>()));
  }
}

// max_completion_tokens is the younger name and wins; -1 is llama-server's "no limit".
void read_lengths(Fields& fields, GenerationFields& out) {
  for (const char* name : {"max_tokens", "max_completion_tokens"}) {
    const auto limit = fields.integer(name, {.min = -1, .max = INT64_MAX});
    if (limit)
      out.max_tokens = *limit < 0 ? std::nullopt : std::optional(static_cast<size_t>(*limit));
  }
  const auto least = fields.integer("min_tokens", {.min = 0, .max = INT64_MAX});
  if (least) out.min_tokens = static_cast<size_t>(*least);
  if (out.max_tokens && out.min_tokens > *out.max_tokens) {
    fields.invalid("min_tokens", "must not be larger than max_tokens");
  }
}

void read_stream(Fields& fields, GenerationFields& out) {
  out.stream = fields.boolean("stream").value_or(false);
  if (const Json* options = fields.object("stream_options")) {
    Fields inner(*options, "stream_options.");
    out.include_usage = inner.boolean("include_usage").value_or(false);
    out.continuous_usage = inner.boolean("continuous_usage_stats").value_or(false);
    if (inner.error()) fields.fail(*inner.error());
  }
  out.timings_per_token = fields.boolean("timings_per_token").value_or(false);
  out.timings = fields.boolean("timings").value_or(out.timings_per_token);
  out.return_token_ids = fields.boolean("return_token_ids").value_or(false);
}

// vLLM's priority and cache_salt; prompt_cache_key is OpenAI's name for what belongs together.
void read_place_in_line(Fields& fields, GenerationFields& out) {
  out.priority = static_cast<int>(
      fields.integer("priority", {.min = INT32_MIN, .max = INT32_MAX}).value_or(0));
  for (const char* name : {"prompt_cache_key", "session_id"}) {
    if (auto session = fields.string(name, kNameBytes)) out.session = *std::move(session);
  }
  out.cache_salt = fields.string("cache_salt", kNameBytes).value_or("");
}

void refuse_constraints(Fields& fields) {
  for (const char* name : {"guided_json", "guided_regex", "guided_choice", "guided_grammar",
                           "grammar", "json_schema", "structured_outputs"}) {
    if (fields.has(name)) {
      fields.fail(
          not_supported(name, fmt::format("{}: answers cannot be constrained by a grammar or "
                                          "schema yet; leave the field out",
                                          name)));
    }
  }
}

}  // namespace

GenerationFields read_generation_fields(Fields& fields, size_t vocab_size) {
  GenerationFields out;
  read_cuts(fields, out.sampling);
  read_penalties(fields, out.sampling);
  read_dry(fields, out.sampling);
  read_logit_bias(fields, vocab_size, out.sampling);
  // Any 64-bit number is a seed; -1 is llama-server's "by chance".
  const auto seed = fields.integer("seed", {});
  if (seed && *seed != -1) out.seed = static_cast<uint64_t>(*seed);
  out.num_choices =
      static_cast<size_t>(fields.integer("n", {.min = 1, .max = kMaxChoices}).value_or(1));
  read_lengths(fields, out);
  out.stop = fields.strings("stop", kStopLimits);
  read_stop_tokens(fields, vocab_size, out);
  out.ignore_eos = fields.boolean("ignore_eos").value_or(false);
  out.skip_special_tokens = fields.boolean("skip_special_tokens").value_or(true);
  read_place_in_line(fields, out);
  read_stream(fields, out);
  refuse_constraints(fields);
  return out;
}

engine::GenerationRequest to_generation_request(const GenerationFields& fields,
                                                std::vector<engine::TokenId> prompt,
                                                size_t choice_index, const Origin& origin) {
  engine::GenerationRequest request;
  request.prompt = std::move(prompt);
  request.sampling = fields.sampling;
  request.sampling.seed = fields.seed ? *fields.seed + choice_index : random_u64();
  request.max_new_tokens = fields.max_tokens.value_or(SIZE_MAX);
  request.min_new_tokens = fields.min_tokens;
  request.stop = fields.stop;
  request.stop_token_ids = fields.stop_token_ids;
  request.ignore_eos = fields.ignore_eos;
  request.skip_special_tokens = fields.skip_special_tokens;
  request.client = origin.client;
  request.session = origin.session;
  request.salt = origin.salt;
  request.priority = fields.priority;
  return request;
}

}  // namespace evener::serve
