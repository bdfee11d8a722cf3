#include <fmt/format.h>

#include "base/text.h"
#include "bench/server/kind.h"

namespace evener::bench {
namespace {

// In order of asking: Evener answers many of the others' routes too.
const Kind* const kKinds[] = {
    &evener_kind, &sglang_kind, &vllm_kind,  &llama_server_kind,
    &ollama_kind, &strata_kind, &other_kind,
};

}  // namespace

const Kind& kind_of(Look& look) {
  for (const Kind* kind : kKinds) {
    if (kind->recognise(look)) return *kind;
  }
  return other_kind;
}

void note(Caliber& caliber, const char* name, const json::Value* root, Path path) {
  if (auto word = word_at(root, path)) caliber[name] = *std::move(word);
}

Status flush_by(Client& client, const std::string& path) {
  ASSIGN_OR_RETURN(const HttpAnswer answer, client.post(path, "", std::chrono::seconds(30)));
  Error error{.code = Code::unavailable,
              .doing = "flush the server's cache",
              .where = client.target().url + path,
              .why = fmt::format("answered {}: {}", answer.status, printable(answer.body, 120)),
              .remedy = "the server is busy: wait until nobody else uses it"};
  if (answer.status == 200) {
    const auto body = json::parse(answer.body, path);
    const json::Value* success = body ? find(&*body, {"success"}) : nullptr;
    if (success && success->is_boolean() && !success->get<bool>()) return error;
    return {};
  }
  if (answer.status != 400) {
    error.code = Code::unsupported;
    error.remedy = "measure with --allow-cached, or let it be allowed there";
  }
  return error;
}

std::string owner(Look& look) {
  const json::Value* list = find(look.get("/v1/models"), {"data"});
  if (!list || !list->is_array() || list->empty()) return "";
  return word_at(&list->front(), {"owned_by"}).value_or("");
}

json::Value tokenize_content(std::string_view text, const ServerFacts&) {
  return {{"content", text}, {"add_special", false}};
}

json::Value tokenize_prompt(std::string_view text, const ServerFacts& facts) {
  return {{"model", facts.model}, {"prompt", text}, {"add_special_tokens", false}};
}

}  // namespace evener::bench
