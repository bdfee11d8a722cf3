#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "bench/client.h"
#include "bench/server/prometheus.h"

namespace evener::bench {

// What a server says of itself on its other routes, each asked once and kept. A route that does not
// answer, answers with another status than 200 or with something else than it should, is null.
class Look {
 public:
  explicit Look(Client& client) : client_(client) {}

  const json::Value* get(const std::string& path);
  const json::Value* post(const std::string& path, const json::Value& body);
  const Samples* metrics();  // of /metrics; null also if there are none in it

  Client& client() { return client_; }

 private:
  const json::Value* keep(std::string key, const Result<HttpAnswer>& answer);

  Client& client_;
  std::map<std::string, std::optional<json::Value>> answers_;
  std::optional<std::optional<Samples>> metrics_;
};

// The samples of /metrics. Errors: unavailable (no answer), unsupported (another status than 200).
Result<Samples> read_metrics(Client& client);

using Path = std::initializer_list<std::string_view>;

// What stands at a path of names; absent if there is no such thing or it is of another kind.
const json::Value* find(const json::Value* root, Path path);
std::optional<uint64_t> uint_at(const json::Value* root, Path path);
// Any plain value in words, printable and at most 200 bytes; absent if it is empty.
std::optional<std::string> word_at(const json::Value* root, Path path);

// The name of a file without its folders: paths of strangers' machines tell nothing.
std::string base_name(std::string_view path);

}  // namespace evener::bench
