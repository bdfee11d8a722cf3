#include "bench/server/model_list.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/text.h"

namespace evener::bench {
namespace {

constexpr size_t kNamesShown = 20;

Error lookup_error(const Client& client, Code code, std::string why, std::string remedy) {
  return {.code = code,
          .doing = "measure the server",
          .where = client.target().url + "/v1/models",
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

Error not_allowed(const Client& client, int status) {
  const bool sent = !client.target().api_key.empty();
  return lookup_error(
      client, Code::permission_denied,
      fmt::format("answered {}: {}", status, sent ? "it does not take this key" : "it wants a key"),
      sent ? "give the server's own key with --api-key" : "give its key with --api-key");
}

// What stands there instead, for a person to recognise.
Error stranger(const Client& client, const HttpAnswer& answer) {
  return lookup_error(
      client, Code::corrupt,
      fmt::format("is no list of models: answered {}, {}", answer.status,
                  answer.body.empty() ? "with nothing" : "'" + printable(answer.body, 80) + "'"),
      "--url must be that of an OpenAI-compatible server, as http://127.0.0.1:8080");
}

// Null: no list of models.
const json::Value* model_list(const Result<json::Value>& body) {
  if (!body || !body->is_object()) return nullptr;
  const auto data = body->find("data");
  return data != body->end() && data->is_array() ? &*data : nullptr;
}

const std::string* name_of(const json::Value& entry) {
  if (!entry.is_object()) return nullptr;
  const auto id = entry.find("id");
  return id != entry.end() && id->is_string() ? &id->get_ref<const std::string&>() : nullptr;
}

std::string names_of(const json::Value& list) {
  std::string out;
  size_t num_names = 0;
  for (const json::Value& entry : list) {
    const std::string* name = name_of(entry);
    if (!name) continue;
    if (++num_names > kNamesShown) continue;
    out += (out.empty() ? "" : ", ") + printable(*name, 100);
  }
  if (num_names > kNamesShown) out += fmt::format(" and {} more", num_names - kNamesShown);
  return out;
}

}  // namespace

Result<json::Value> find_model(Client& client) {
  ASSIGN_OR_RETURN(const HttpAnswer answer, client.get("/v1/models"));
  if (answer.status == 401 || answer.status == 403) return not_allowed(client, answer.status);
  if (answer.status == 503 || answer.status == 502) {
    return lookup_error(client, Code::unavailable,
                        fmt::format("answered {}: {}", answer.status, printable(answer.body, 80)),
                        "it may be loading: try again when it is ready");
  }
  const Result<json::Value> body = json::parse(answer.body, "/v1/models");
  const json::Value* list = answer.status == 200 ? model_list(body) : nullptr;
  if (!list) return stranger(client, answer);

  const std::string& wanted = client.target().model;
  for (const json::Value& entry : *list) {
    const std::string* name = name_of(entry);
    if (name && (wanted.empty() || *name == wanted)) return entry;
  }
  const std::string names = names_of(*list);
  if (names.empty()) {
    return lookup_error(client, Code::not_found, "names no model", "load a model there first");
  }
  return lookup_error(client, Code::not_found,
                      fmt::format("does not name '{}'", printable(wanted, 100)),
                      "there is: " + names);
}

}  // namespace evener::bench
