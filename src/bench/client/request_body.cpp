#include "bench/client/request_body.h"

#include <xxhash.h>

#include "base/json.h"

namespace evener::bench {
namespace {

// A prompt may hold bytes that are no UTF-8; the library's default is to throw.
std::string dump(const json::Value& value) {
  return value.dump(-1, ' ', false, json::Value::error_handler_t::replace);
}

void add_prompt(json::Value& body, const RequestPlan& plan) {
  if (plan.messages.empty()) {
    body["prompt"] = plan.prompt;
    return;
  }
  json::Value& messages = body["messages"] = json::Value::array();
  for (const Message& message : plan.messages) {
    messages.push_back({{"role", message.role}, {"content", message.content}});
  }
}

void add_length(json::Value& body, const RequestPlan& plan) {
  if (plan.max_tokens == 0) return;
  body["max_tokens"] = plan.max_tokens;
  if (!plan.force_length) return;
  body["ignore_eos"] = true;  // SGLang, vLLM, llama.cpp, Evener
  body["min_tokens"] = plan.max_tokens;
}

uint64_t hash_prompt(const json::Value& body) {
  const auto messages = body.find("messages");
  const std::string text = dump(messages != body.end() ? *messages : body["prompt"]);
  return XXH64(text.data(), text.size(), 0);
}

}  // namespace

RequestBody make_body(const RequestPlan& plan) {
  json::Value body = json::Value::object();
  add_prompt(body, plan);
  add_length(body, plan);
  body["temperature"] = plan.temperature;
  if (plan.seed) body["seed"] = *plan.seed;
  body["timings"] = true;  // Evener's own clocks; llama.cpp tells its without
  body["stream"] = plan.stream;
  if (plan.stream) {
    // The second tells how many tokens each event has: vLLM, SGLang, Evener.
    body["stream_options"] = {{"include_usage", true}, {"continuous_usage_stats", true}};
  }
  if (!plan.session.empty()) {
    body["session_id"] = plan.session;        // Evener
    body["prompt_cache_key"] = plan.session;  // OpenAI
  }
  if (plan.more.is_object()) body.update(plan.more);
  if (body.contains("messages")) body.erase("prompt");
  RequestBody out;
  out.path = body.contains("messages") ? "/v1/chat/completions" : "/v1/completions";
  out.names_model = body.contains("model");
  out.prompt_hash = hash_prompt(body);
  out.text = dump(body);
  return out;
}

void RequestBody::name_model(std::string_view model) {
  if (model.empty() || names_model) return;
  text.replace(0, 1, R"({"model":)" + dump(json::Value(model)) + ",");
  names_model = true;
}

}  // namespace evener::bench
