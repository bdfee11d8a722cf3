#include "bench/client/answer_reader.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "bench/client/fields.h"

namespace evener::bench {
namespace {

constexpr Channel kChannels[] = {Channel::reasoning, Channel::content, Channel::tool};

void set(std::optional<uint64_t>& field, std::optional<uint64_t> value) {
  if (value) field = value;
}

void set(std::optional<double>& field, std::optional<double> value) {
  if (value) field = value;
}

// Tokens of a choice, by their ids or their log-probabilities.
std::optional<uint64_t> count_ids(const json::Value& choice) {
  if (const json::Value* ids = find_array(choice, "token_ids")) return ids->size();
  const json::Value* logprobs = find_object(choice, "logprobs");
  if (logprobs == nullptr) return std::nullopt;
  for (const std::string_view name : {"content", "tokens"}) {
    if (const json::Value* tokens = find_array(*logprobs, name)) return tokens->size();
  }
  return std::nullopt;
}

std::optional<uint64_t> count_so_far(const json::Value& chunk) {
  if (const json::Value* usage = find_object(chunk, "usage")) {
    return find_uint(*usage, "completion_tokens");
  }
  const json::Value* timings = find_object(chunk, "timings");
  return timings != nullptr ? find_uint(*timings, "predicted_n") : std::nullopt;
}

bool is_error(const json::Value& chunk) {
  const auto error = chunk.find("error");
  if (error != chunk.end() && !error->is_null()) return true;
  const std::string* object = find_string(chunk, "object");
  return object != nullptr && *object == "error";  // vLLM
}

bool is_chunk(const json::Value& value) {
  return find_array(value, "choices") != nullptr || find_object(value, "usage") != nullptr ||
         find_object(value, "timings") != nullptr;
}

}  // namespace

AnswerReader::AnswerReader(RequestRecord& record, bool keep_text)
    : record_(record), keep_text_(keep_text), hash_(XXH64_createState()) {
  XXH64_reset(hash_, 0);
}

AnswerReader::~AnswerReader() { XXH64_freeState(hash_); }

bool AnswerReader::take_event(const SseParser::Event& event, Nanoseconds at, OnOutput on_output) {
  if (event.data == "[DONE]") {
    record_.done_seen = true;
    return false;
  }
  const Result<json::Value> chunk = json::parse(event.data, "event");
  if (!chunk && event.type == "error") {
    return fail(Fault::error_event,
                "the server reported an error inside the stream: " + printable(event.data));
  }
  if (!chunk) return malformed(event.data, "no JSON");
  if (!chunk->is_object()) return malformed(event.data, "no chunk of an answer");
  if (is_error(*chunk) || event.type == "error") {
    const std::string message = server_message(*chunk);
    return fail(Fault::error_event, "the server reported an error inside the stream: " +
                                        (message.empty() ? printable(event.data) : message));
  }
  if (!is_chunk(*chunk)) return malformed(event.data, "no chunk of an answer");
  ++num_chunks_;
  take_chunk(*chunk, at, on_output);
  return true;
}

void AnswerReader::take_chunk(const json::Value& chunk, Nanoseconds at, OnOutput on_output) {
  for (std::string& piece : pieces_) piece.clear();
  num_ids_.reset();
  if (const std::string* id = find_string(chunk, "id"); id != nullptr) {
    if (record_.request_id.empty()) record_.request_id = printable(*id);
  }
  if (const json::Value* choices = find_array(chunk, "choices")) {
    for (const json::Value& choice : *choices) take_choice(choice);
  }
  tell_outputs(chunk, at, on_output);
  if (const json::Value* usage = find_object(chunk, "usage")) take_usage(*usage);
  if (const json::Value* timings = find_object(chunk, "timings")) take_timings(*timings);
}

void AnswerReader::take_choice(const json::Value& choice) {
  const bool first = find_uint(choice, "index").value_or(0) == 0;
  if (const auto num_ids = count_ids(choice)) num_ids_ = num_ids_.value_or(0) + *num_ids;
  for (const std::string_view name : {"delta", "message"}) {
    if (const json::Value* message = find_object(choice, name)) take_message(*message, first);
  }
  if (const std::string* text = find_string(choice, "text")) {
    add_text(Channel::content, *text, first);
  }
  if (const std::string* reason = find_string(choice, "finish_reason"); reason && first) {
    take_finish_reason(*reason);
  }
}

void AnswerReader::take_message(const json::Value& message, bool first_choice) {
  const std::string* reasoning = find_string(message, "reasoning_content");
  // Some send the same text under both names.
  if (reasoning == nullptr || reasoning->empty()) reasoning = find_string(message, "reasoning");
  if (reasoning != nullptr) add_text(Channel::reasoning, *reasoning, first_choice);
  if (const std::string* content = find_string(message, "content")) {
    add_text(Channel::content, *content, first_choice);
  }
  if (const json::Value* calls = find_array(message, "tool_calls")) {
    take_tool_calls(*calls, first_choice);
  }
}

void AnswerReader::take_tool_calls(const json::Value& calls, bool first_choice) {
  uint64_t index = 0;
  for (const json::Value& call : calls) {
    std::string text;
    ToolCalls other_choice;
    if (!(first_choice ? calls_ : other_choice).add(call, index, text)) {
      ++record_.num_malformed_events;
    }
    add_text(Channel::tool, text, first_choice);
    ++index;
  }
}

void AnswerReader::take_finish_reason(const std::string& reason) {
  has_finish_ = true;
  if (reason == "length" || reason == "max_tokens") {
    record_.finish = Finish::length;
  } else if (reason == "tool_calls" || reason == "function_call") {
    record_.finish = Finish::tool_calls;
  } else if (reason == "error" || reason == "abort" || reason == "cancelled") {
    fail(Fault::error_event, "the server gave up the answer (finish_reason " + reason + ")");
  } else {
    record_.finish = Finish::stop;
  }
}

void AnswerReader::take_usage(const json::Value& usage) {
  const auto num_in = find_uint(usage, "prompt_tokens");
  const auto num_out = find_uint(usage, "completion_tokens");
  const bool other_prompt =
      num_in && record_.num_tokens_in.value_or(0) != 0 && *num_in != *record_.num_tokens_in;
  const bool fewer = num_out && *num_out < record_.num_tokens_out.value_or(0);
  record_.usage_disagreed = record_.usage_disagreed || other_prompt || fewer;
  set(record_.num_tokens_in, num_in);
  set(record_.num_tokens_out, num_out);
  set(record_.num_tokens_reasoning, find_uint(usage, "reasoning_tokens"));  // SGLang
  if (const json::Value* details = find_object(usage, "prompt_tokens_details")) {
    set(record_.num_tokens_cached, find_uint(*details, "cached_tokens"));
  }
  if (const json::Value* details = find_object(usage, "completion_tokens_details")) {
    set(record_.num_tokens_reasoning, find_uint(*details, "reasoning_tokens"));
  }
}

void AnswerReader::take_timings(const json::Value& timings) {
  ServerTimes& times = record_.server;
  set(times.queue_ms, find_number(timings, "queue_ms"));
  set(times.prefill_ms, find_number(timings, "prompt_ms"));
  set(times.decode_ms, find_number(timings, "predicted_ms"));
  set(times.gap_max_ms, find_number(timings, "gap_max_ms"));
  set(times.num_drafted, find_uint(timings, "draft_n"));
  set(times.num_accepted, find_uint(timings, "draft_n_accepted"));
  // llama.cpp: its usage did not always tell what came from the cache.
  if (!record_.num_tokens_cached) record_.num_tokens_cached = find_uint(timings, "cache_n");
}

void AnswerReader::add_text(Channel channel, std::string_view text, bool first_choice) {
  if (text.empty()) return;
  pieces_[size_t(channel)] += text;
  has_text_ = true;
  XXH64_update(hash_, text.data(), text.size());
  if (keep_text_ && first_choice && channel == Channel::content) record_.text += text;
}

void AnswerReader::tell_outputs(const json::Value& chunk, Nanoseconds at, OnOutput on_output) {
  uint32_t num_left = 0;  // channels that come after
  for (const std::string& piece : pieces_) num_left += piece.empty() ? 0 : 1;
  if (num_left == 0) ++record_.num_empty_events;
  uint32_t num_tokens = counter_.take(
      {.num_ids = num_ids_, .num_so_far = count_so_far(chunk), .has_output = num_left > 0});
  for (const Channel channel : kChannels) {
    const std::string& piece = pieces_[size_t(channel)];
    if (piece.empty()) continue;
    --num_left;
    // Where a chunk ends one channel and begins another, each has a token; the first has the rest.
    const uint32_t share = num_tokens > num_left ? num_tokens - num_left : num_tokens;
    num_tokens -= share;
    const OutputEvent event = {.at = at,
                               .num_tokens = share,
                               .num_bytes = static_cast<uint32_t>(piece.size()),
                               .channel = channel};
    record_.events.push_back(event);
    on_output(event, piece);  // which may end the record
  }
}

void AnswerReader::take_whole(std::string_view body) {
  const Result<json::Value> answer = json::parse(body, "answer");
  if (!answer || !answer->is_object()) {
    fail(Fault::http_error, "the answer is no JSON object: '" + printable(body) + "'");
    return;
  }
  if (is_error(*answer)) {
    fail(Fault::error_event, "the server answered with an error: " + server_message(*answer));
    return;
  }
  if (!is_chunk(*answer)) {
    fail(Fault::http_error, "the answer has no choices: '" + printable(body) + "'");
    return;
  }
  ++num_chunks_;
  record_.done_seen = true;
  take_chunk(*answer, Nanoseconds(0), [](const OutputEvent&, std::string_view) {});
  record_.events.clear();  // when its tokens were made cannot be seen
  record_.num_empty_events = 0;
}

void AnswerReader::settle_text() {
  if (has_text_) record_.output_hash = XXH64_digest(hash_);
  if (!calls_.empty()) record_.tool_calls = calls_.to_json();
}

void AnswerReader::settle_finish() {
  if (record_.fault) return;
  if (num_chunks_ == 0 && record_.num_malformed_events > 0) {
    fail(Fault::malformed_event, first_malformed_);
  } else if (!has_finish_ && !record_.done_seen) {
    fail(Fault::truncated_stream,
         fmt::format("the stream ended after {} events without finish_reason and [DONE]",
                     record_.events.size()));
  } else if (!has_finish_) {
    record_.finish = Finish::stop;
  }
}

bool AnswerReader::fail(Fault fault, std::string words) {
  record_.finish = Finish::error;
  record_.fault = fault;
  record_.error = std::move(words);
  return false;
}

bool AnswerReader::malformed(std::string_view data, std::string_view why) {
  ++record_.num_malformed_events;
  if (first_malformed_.empty()) {
    first_malformed_ = fmt::format("an event of the stream is {}: '{}'", why, printable(data, 120));
  }
  return true;
}

}  // namespace evener::bench
