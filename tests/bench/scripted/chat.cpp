#include "bench/scripted/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace evener::bench::scripted {
namespace {

using json::Value;
using Usage = Script::Usage;

// One answer: what was asked, and what is to be said.
struct Answer {
  Script script;
  bool chat = true;
  bool streams = false;
  bool usage_in_stream = false;
  bool usage_in_each = false;
  uint32_t max_tokens = 0;
  size_t num_in = 0;
  size_t num_cached = 0;
  Words words;
  const char* finish = "length";
};

uint32_t number(const Value& body, const char* name, uint32_t fallback) {
  const auto at = body.find(name);
  return at != body.end() && at->is_number_unsigned() ? at->get<uint32_t>() : fallback;
}

bool flag(const Value& body, const char* name) {
  const auto at = body.find(name);
  return at != body.end() && at->is_boolean() && at->get<bool>();
}

std::string text_at(const Value& object, const char* name) {
  if (!object.is_object()) return "";
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

Words prompt_of(const Value& body, bool chat) {
  if (!chat) return words_of(text_at(body, "prompt"));
  Words prompt(kTemplateTokens);
  for (const Value& message : body.value("messages", Value::array())) {
    const Words words = words_of(text_at(message, "content"));
    prompt.insert(prompt.end(), words.begin(), words.end());
  }
  return prompt;
}

Words counting(size_t num) {
  Words out;
  for (size_t i = 1; i <= num; ++i) out.push_back(fmt::format("{} ", i));
  return out;
}

// Whether the model is kept from ending, and how much it says.
void choose_words(const Value& body, Answer& a) {
  const bool forced = a.script.takes_ignore_eos &&
                      (flag(body, "ignore_eos") || number(body, "min_tokens", 0) == a.max_tokens);
  Words told = a.script.answer ? a.script.answer(body) : Words();
  size_t natural = told.empty() ? a.script.natural_length : told.size();
  if (a.script.ends_at) natural = *a.script.ends_at;
  const bool ends = !a.script.ends_at && forced ? false : natural < a.max_tokens;
  const size_t length = ends ? natural : a.max_tokens;
  a.words = told.empty() ? counting(length) : std::move(told);
  for (size_t i = a.words.size(); i < length; ++i) a.words.push_back("on ");
  a.words.resize(length);
  if (ends) a.finish = "stop";
}

Value usage(const Answer& a, size_t num_out, bool last) {
  size_t in = a.num_in;
  size_t out = num_out;
  if (a.script.usage == Usage::too_few_out) out /= 2;
  if (a.script.usage == Usage::too_many_out) out = a.max_tokens + 10;
  if (a.script.usage == Usage::other_prompt) in += 100;
  if (a.script.usage == Usage::shrinks && !last) out += 10;
  Value told = {{"prompt_tokens", in}, {"completion_tokens", out}, {"total_tokens", in + out}};
  if (a.script.counts_cached) {
    const size_t cached = a.script.says_cached ? a.num_in - 1 : a.num_cached;
    told["prompt_tokens_details"] = {{"cached_tokens", cached}};
  }
  return told;
}

Value timings(const Answer& a) {
  const double token_ms = double(a.script.time_per_token.count()) / 1000;
  const double prompt_ms = double(a.script.time_per_prompt_token.count()) / 1000;
  const size_t cached = a.script.says_cached ? a.num_in - 1 : a.num_cached;
  return {{"cache_n", cached},
          {"prompt_n", a.num_in - cached},
          {"prompt_ms", prompt_ms * double(a.num_in - a.num_cached)},
          {"predicted_n", a.words.size()},
          {"predicted_ms", token_ms * double(a.words.size())},
          {"queue_ms", 0.0}};
}

Value frame(const Answer& a, const char* object) {
  return {{"id", a.chat ? "chatcmpl-scripted" : "cmpl-scripted"},
          {"object", object},
          {"created", 1},
          {"model", a.script.models.front()}};
}

Value chunk(const Answer& a, const std::string& text, const char* finish) {
  Value out = frame(a, a.chat ? "chat.completion.chunk" : "text_completion");
  Value choice = {{"index", 0}, {"finish_reason", finish ? Value(finish) : Value()}};
  if (!a.chat) choice["text"] = text;
  if (a.chat) choice["delta"] = text.empty() ? Value::object() : Value{{"content", text}};
  out["choices"] = Value::array({std::move(choice)});
  return out;
}

std::string event(const Value& value) { return "data: " + value.dump() + "\n\n"; }

bool counts(const Answer& a) { return a.script.usage != Usage::none; }

bool answer_whole(State& state, Wire& wire, const Answer& a) {
  if (!state.pass(a.script.time_per_token * a.words.size())) return false;
  std::string text;
  for (const std::string& word : a.words) text += word;
  if (a.script.silent) text.clear();
  Value out = frame(a, a.chat ? "chat.completion" : "text_completion");
  Value choice = {{"index", 0}, {"finish_reason", a.finish}};
  if (a.chat) choice["message"] = {{"role", "assistant"}, {"content", text}};
  if (!a.chat) choice["text"] = text;
  out["choices"] = Value::array({std::move(choice)});
  if (counts(a)) out["usage"] = usage(a, a.script.silent ? 0 : a.words.size(), true);
  if (a.script.tells_timings) out["timings"] = timings(a);
  return wire.answer(200, out);
}

// Speaks the events of one stream, and goes wrong where its script says so.
class Speaker {
 public:
  Speaker(State& state, Wire& wire, const Answer& answer)
      : state_(state), wire_(wire), a_(answer) {}

  bool speak() {
    if (!wire_.begin_stream()) return false;
    if (a_.chat) {
      Value first = chunk(a_, "", nullptr);
      first["choices"][0]["delta"] = {{"role", "assistant"}, {"content", ""}};
      if (!say(first)) return false;
    }
    if (!a_.script.silent && !speak_words()) return false;
    return finish();
  }

 private:
  bool speak_words() {
    std::string text;
    for (uint32_t i = 0; i < a_.words.size(); ++i) {
      if (!reach(i)) return false;
      text += a_.words[i];
      const bool whole = (i + 1) % std::max(1u, a_.script.words_per_event) == 0;
      if (!whole && i + 1 < a_.words.size()) continue;
      Value out = chunk(a_, std::exchange(text, ""), nullptr);
      if (a_.usage_in_each && counts(a_)) out["usage"] = usage(a_, i + 1, false);
      if (!say(out)) return false;
    }
    return true;
  }

  // The moment before word i. False: nothing more is said.
  bool reach(uint32_t i) {
    const Script& script = a_.script;
    if (!state_.pass(script.time_per_token)) return false;
    if (script.hold_at == i) state_.hold();
    if (script.stalls_at == i && !state_.pass(script.stall)) return false;
    if (script.malformed_event_at == i && !wire_.send_part("data: {\"choices\": [\n\n"))
      return false;
    if (script.resets_at == i) wire_.reset();
    if (script.breaks_off_at == i || script.error_event_at == i) {
      if (script.error_event_at == i) {
        say({{"error", {{"message", "a card was lost"}, {"type", "server_error"}}}});
      }
      wire_.end_stream();
      wire_.shut();
    }
    return script.resets_at != i && script.breaks_off_at != i && script.error_event_at != i;
  }

  bool finish() {
    Value last = chunk(a_, "", a_.finish);
    if (a_.script.tells_timings) last["timings"] = timings(a_);
    if (!say(last)) return false;
    if (a_.usage_in_stream && counts(a_)) {
      Value out = frame(a_, "chat.completion.chunk");
      out["choices"] = Value::array();
      out["usage"] = usage(a_, a_.script.silent ? 0 : a_.words.size(), true);
      if (!say(out)) return false;
    }
    if (!a_.script.no_done) held_ += "data: [DONE]\n\n";
    if (!held_.empty() && !wire_.send_part(held_)) return false;
    return wire_.end_stream();
  }

  bool say(const Value& value) {
    held_ += event(value);
    if (a_.script.holds_back) return true;
    return wire_.send_part(std::exchange(held_, ""));
  }

  State& state_;
  Wire& wire_;
  const Answer& a_;
  std::string held_;
};

bool refuse(Wire& wire, int status, const char* why) {
  return wire.answer(status, {{"error", {{"message", why}, {"type", "invalid_request_error"}}}});
}

}  // namespace

Words words_of(std::string_view text) {
  Words out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool answer_chat(State& state, Wire& wire, const Request& request) {
  auto body = json::parse(request.body, "request");
  if (!body || !body->is_object()) return refuse(wire, 400, "no JSON object");
  state.note_body(*body);

  Answer a;
  a.script = state.script();
  a.chat = request.path == "/chat/completions";
  if (a.script.status != 200) return refuse(wire, a.script.status, "out of order, by its script");
  if (a.script.refuses_unknown_fields && body->contains("ignore_eos")) {
    return refuse(wire, 400, "ignore_eos: no such field");
  }
  if (std::ranges::find(a.script.models, text_at(*body, "model")) == a.script.models.end()) {
    return refuse(wire, 404, "no such model");
  }
  const Words prompt = prompt_of(*body, a.chat);
  a.num_in = prompt.size();
  a.num_cached = state.look_up(prompt);
  const auto room = uint32_t(a.script.context_tokens - std::min(a.script.context_tokens, a.num_in));
  if (room == 0) return refuse(wire, 400, "maximum context length");
  a.max_tokens =
      std::min(number(*body, "max_tokens", number(*body, "max_completion_tokens", room)), room);
  a.streams = flag(*body, "stream");
  const Value options = body->value("stream_options", Value::object());
  a.usage_in_stream = flag(options, "include_usage");
  a.usage_in_each = (a.script.counts_in_each_event && flag(options, "continuous_usage_stats")) ||
                    a.script.usage == Usage::shrinks;
  choose_words(*body, a);
  if (!state.pass(a.script.time_per_prompt_token * (a.num_in - a.num_cached))) return false;
  return a.streams ? Speaker(state, wire, a).speak() : answer_whole(state, wire, a);
}

}  // namespace evener::bench::scripted
