#include "bench/scripted/routes.h"

#include <fmt/format.h>

#include "bench/scripted/chat.h"

namespace evener::bench::scripted {
namespace {

using json::Value;
using Manners = Script::Manners;

struct Call {
  State& state;
  Wire& wire;
  const Request& request;
  Script script;
};

bool not_found(const Call& call) {
  return call.wire.answer(404, {{"error", {{"message", "no such route"}, {"code", 404}}}});
}

const char* owner(Manners manners) {
  constexpr const char* kOwners[] = {"evener", "sglang", "vllm", "llamacpp", "library", "somebody"};
  return kOwners[size_t(manners)];
}

bool models(const Call& call) {
  Value list = Value::array();
  for (const std::string& model : call.script.models) {
    list.push_back({{"id", model},
                    {"object", "model"},
                    {"owned_by", owner(call.script.manners)},
                    {"max_model_len", call.script.context_tokens},
                    {"meta", {{"quantisation", "Q8_0"}, {"size", 1234}}}});
  }
  return call.wire.answer(200, {{"object", "list"}, {"data", std::move(list)}});
}

bool tokenize(const Call& call, const char* field) {
  const auto body = json::parse(call.request.body, "request");
  if (!body || !body->contains(field)) return call.wire.answer(400, Value::object());
  const size_t count = words_of(body->at(field).get<std::string>()).size();
  Value tokens = Value::array();
  for (size_t i = 0; i < count; ++i) tokens.push_back(i);
  Value out = {{"tokens", std::move(tokens)}};
  if (call.script.manners != Manners::llama_server) out["count"] = count;
  return call.wire.answer(200, out);
}

bool flush(const Call& call) {
  if (!call.state.flush()) {
    if (call.script.manners == Manners::vllm) return call.wire.answer(200, {{"success", false}});
    return call.wire.answer(400, {{"error", {{"message", "1 requests run"}, {"code", "busy"}}}});
  }
  return call.wire.answer(200, {{"success", true}});
}

bool metrics(const Call& call, std::string_view prefix) {
  return call.wire.answer(
      200, "text/plain",
      fmt::format("# HELP process_resident_memory_bytes Resident memory size in bytes.\n"
                  "# TYPE process_resident_memory_bytes gauge\n"
                  "process_resident_memory_bytes 1.5e+07\n"
                  "{}requests_total{{model=\"{}\"}} {}\n{}",
                  prefix, call.script.models.front(), call.state.bodies().size(),
                  call.script.more_metrics));
}

bool evener(const Call& call) {
  const std::string& path = call.request.path;
  if (path == "/server_info" || path == "/get_server_info") {
    return call.wire.answer(
        200, {{"version", "0.1.0"},
              {"commit", "abcdef"},
              {"admissible",
               {{"tokens", call.script.context_tokens},
                {"pool_tokens", 4 * call.script.context_tokens}}},
              {"queue", {{"running_max", call.script.max_running}}},
              {"options",
               {{"prefill_chunk_tokens", call.script.chunk_tokens}, {"prefix_cache", true}}}});
  }
  if (path == "/flush_cache") return flush(call);
  if (path == "/tokenize") return tokenize(call, "content");
  if (path == "/metrics") return metrics(call, "evener_");
  return not_found(call);
}

bool sglang(const Call& call) {
  const std::string& path = call.request.path;
  if (path == "/get_server_info") {
    return call.wire.answer(200, {{"version", "0.5.3"},
                                  {"model_path", "/data/models/Scripted-8B"},
                                  {"chunked_prefill_size", call.script.chunk_tokens},
                                  {"max_running_requests", call.script.max_running},
                                  {"kv_cache_dtype", "auto"},
                                  {"quantization", nullptr},
                                  {"tp_size", 2}});
  }
  if (path == "/flush_cache") return flush(call);
  if (path == "/tokenize") return tokenize(call, "prompt");
  if (path == "/metrics") return metrics(call, "sglang:");
  return not_found(call);
}

bool vllm(const Call& call) {
  const std::string& path = call.request.path;
  if (path == "/version") return call.wire.answer(200, {{"version", "0.11.0"}});
  if (path == "/reset_prefix_cache") {
    return call.request.method == "POST" ? flush(call) : call.wire.answer(405, Value::object());
  }
  if (path == "/tokenize") return tokenize(call, "prompt");
  if (path == "/metrics") return metrics(call, "vllm:");
  return not_found(call);
}

bool llama_server(const Call& call) {
  const std::string& path = call.request.path;
  if (path == "/props") {
    return call.wire.answer(
        200, {{"default_generation_settings", {{"n_ctx", call.script.context_tokens}}},
              {"total_slots", call.script.max_running},
              {"model_path", "/data/models/scripted-q8_0.gguf"},
              {"build_info", "b9000-abcdef"}});
  }
  if (path.starts_with("/slots/")) {
    if (call.request.query == "action=erase") return flush(call);
    return call.wire.answer(400, {{"error", {{"message", "Invalid action"}}}});
  }
  if (path == "/tokenize") return tokenize(call, "content");
  return not_found(call);
}

bool ollama(const Call& call) {
  const std::string& path = call.request.path;
  const std::string& model = call.script.models.front();
  if (path == "/api/version") return call.wire.answer(200, {{"version", "0.12.0"}});
  if (path == "/api/ps") {
    return call.wire.answer(
        200, {{"models", Value::array({{{"name", model},
                                        {"digest", "00ff"},
                                        {"context_length", call.script.context_tokens}}})}});
  }
  if (path == "/api/show") {
    return call.wire.answer(200, {{"details", {{"quantization_level", "Q8_0"}}}});
  }
  return not_found(call);
}

}  // namespace

bool answer(State& state, Wire& wire, const Request& request) {
  const Call call{state, wire, request, state.script()};
  if (call.script.is_a_website) {
    return wire.answer(200, "text/html", "<!DOCTYPE html><title>Welcome to my garden</title>");
  }
  const std::string& path = request.path;
  const std::string& key = call.script.api_key;
  if (!key.empty() && request.authorization != "Bearer " + key) {
    return wire.answer(401, {{"error", {{"message", "no key"}, {"type", "authentication_error"}}}});
  }
  if (path == "/models") return models(call);
  if (path == "/chat/completions" || path == "/completions")
    return answer_chat(state, wire, request);
  if (path == "/health") return wire.answer(200, {{"status", "ok"}});

  using Routes = bool (*)(const Call&);
  constexpr Routes kRoutes[] = {evener, sglang, vllm, llama_server, ollama, not_found};
  return kRoutes[size_t(call.script.manners)](call);
}

}  // namespace evener::bench::scripted
