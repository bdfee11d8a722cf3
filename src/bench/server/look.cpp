#include "bench/server/look.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace evener::bench {

const json::Value* Look::get(const std::string& path) {
  const std::string key = "GET " + path;
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second ? &*known->second : nullptr;
  return keep(key, client_.get(path));
}

const json::Value* Look::post(const std::string& path, const json::Value& body) {
  const std::string text = body.dump(-1, ' ', false, json::Value::error_handler_t::replace);
  const std::string key = "POST " + path + " " + text;
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second ? &*known->second : nullptr;
  return keep(key, client_.post(path, text));
}

const json::Value* Look::keep(std::string key, const Result<HttpAnswer>& answer) {
  std::optional<json::Value>& place = answers_[std::move(key)];
  if (!answer || answer->status != 200) return nullptr;
  auto parsed = json::parse(answer->body, "answer");
  if (!parsed) return nullptr;
  place = *std::move(parsed);
  return &*place;
}

const Samples* Look::metrics() {
  if (!metrics_) {
    auto read = read_metrics(client_);
    metrics_.emplace();
    if (read && !read->empty()) *metrics_ = *std::move(read);
  }
  return *metrics_ ? &**metrics_ : nullptr;
}

Result<Samples> read_metrics(Client& client) {
  ASSIGN_OR_RETURN(HttpAnswer answer, client.get("/metrics"));
  if (answer.status == 307 || answer.status == 308) {  // SGLang with several processes
    ASSIGN_OR_RETURN(answer, client.get("/metrics/"));
  }
  if (answer.status != 200) {
    return Error{.code = Code::unsupported,
                 .doing = "read the server's metrics",
                 .where = client.target().url + "/metrics",
                 .why = fmt::format("answered {}", answer.status),
                 .remedy = "SGLang and llama-server offer them with --enable-metrics or --metrics"};
  }
  return parse_prometheus(answer.body);
}

const json::Value* find(const json::Value* root, Path path) {
  for (const std::string_view name : path) {
    if (!root || !root->is_object()) return nullptr;
    const auto at = root->find(name);
    if (at == root->end()) return nullptr;
    root = &*at;
  }
  return root;
}

std::optional<uint64_t> uint_at(const json::Value* root, Path path) {
  const json::Value* value = find(root, path);
  if (!value || !value->is_number_integer()) return std::nullopt;
  if (!value->is_number_unsigned() && value->get<int64_t>() < 0) return std::nullopt;
  return value->get<uint64_t>();
}

std::optional<std::string> word_at(const json::Value* root, Path path) {
  const json::Value* value = find(root, path);
  if (!value || value->is_null() || value->is_structured()) return std::nullopt;
  std::string word =
      printable(value->is_string() ? value->get_ref<const std::string&>() : value->dump());
  if (word.empty()) return std::nullopt;
  return word;
}

std::string base_name(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.find_last_of("/\\") + 1));
}

}  // namespace evener::bench
