#include "serve/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"

namespace evener::serve {
namespace {

// Looks at brackets and commas alone: what a parser would have to build is known before it builds.
std::optional<ApiError> check_extent(std::string_view body, JsonLimits limits) {
  size_t depth = 0;
  size_t num_values = 1;
  bool in_string = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++num_values;
      if (++depth > limits.depth) {
        return invalid_value(
            "", fmt::format("the body's JSON is nested deeper than {} levels", limits.depth));
      }
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1 : 0;
    } else if (c == ',') {
      ++num_values;
    }
    if (num_values > limits.num_values) {
      return invalid_value(
          "", fmt::format("the body's JSON has more than {} values", limits.num_values));
    }
  }
  return std::nullopt;
}

// Builds the document by appending. The library's own builder looks every key up in the ordered
// object first, which is quadratic: a body of a million keys would hold a thread for hours.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool end_object() override {
    if (!has_unique_keys(open_.back())) return false;
    return close();
  }
  bool key(string_t& value) override {
    keys_.back() = std::move(value);
    return true;
  }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error = fmt::format("the body is not valid JSON at byte {}", position);
    return false;
  }

  Json root;
  std::string error;

 private:
  bool open(Json container) {
    open_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }

  bool add(Json value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (Json& parent = open_.back(); parent.is_array()) {
      parent.get_ref<Json::array_t&>().push_back(std::move(value));
    } else {
      parent.get_ref<Json::object_t&>().emplace_back(std::move(keys_.back()), std::move(value));
    }
    return true;
  }

  bool has_unique_keys(const Json& object) {
    const auto& fields = object.get_ref<const Json::object_t&>();
    std::vector<std::string_view> names;
    names.reserve(fields.size());
    for (const auto& field : fields) names.push_back(field.first);
    std::ranges::sort(names);
    const auto twin = std::ranges::adjacent_find(names);
    if (twin == names.end()) return true;
    error =
        fmt::format("the key \"{}\" appears twice in one object of the body", printable(*twin, 80));
    return false;
  }

  std::vector<Json> open_;         // containers begun and not ended, outermost first
  std::vector<std::string> keys_;  // of the value that comes next, one for each of open_
};

}  // namespace

std::expected<Json, ApiError> parse_object(std::string_view body, JsonLimits limits) {
  if (!utf8::is_valid(body)) {
    return std::unexpected(invalid_value("", "the body is not valid UTF-8"));
  }
  if (auto error = check_extent(body, limits)) return std::unexpected(*std::move(error));
  Builder builder;
  if (!Json::sax_parse(body, &builder)) {
    return std::unexpected(invalid_value("", std::move(builder.error)));
  }
  if (!builder.root.is_object()) {
    return std::unexpected(invalid_value("", "the body must be a JSON object"));
  }
  return std::move(builder.root);
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace evener::serve
