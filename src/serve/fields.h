#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.h"
#include "serve/json.h"

namespace evener::serve {

// What one name (a type, a role, a function's) and one text of a request may have.
inline constexpr size_t kNameBytes = 256;
inline constexpr size_t kTextBytes = size_t{64} << 20;

struct IntegerRange {
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
};

struct NumberRange {
  double min = 0;
  double max = 0;
};

struct StringLimits {
  size_t count_max = 0;
  size_t bytes_max = 0;  // of each
};

// Reads the fields of one JSON object by name, type and range. null counts as absent. The first
// fault is kept in error() and later reads go on returning nothing wrong, so that a validator reads
// like the list of its fields. Keeps references to the object: it must outlive this.
class Fields {
 public:
  // `path` is put before names in errors: "stream_options." or "".
  explicit Fields(const Json& object, std::string path = "");

  const Json* find(std::string_view name) const;  // null if absent or null
  bool has(std::string_view name) const { return find(name) != nullptr; }

  std::optional<bool> boolean(std::string_view name);
  std::optional<int64_t> integer(std::string_view name, IntegerRange range);
  std::optional<double> number(std::string_view name, NumberRange range);
  std::optional<std::string> string(std::string_view name, size_t bytes_max);
  // One of `allowed`.
  std::optional<std::string> choice(std::string_view name,
                                    std::initializer_list<std::string_view> allowed);
  // A string, or a list of strings; none may be empty.
  std::vector<std::string> strings(std::string_view name, StringLimits limits);
  const Json* object(std::string_view name);
  const Json* array(std::string_view name, size_t count_max);

  std::string path_of(std::string_view name) const;

  // Keeps the first error.
  void fail(ApiError error);
  void invalid(std::string_view name, std::string message);
  const std::optional<ApiError>& error() const { return error_; }

 private:
  const Json& object_;
  std::string path_;
  std::optional<ApiError> error_;
};

// "a string", "null", "a list", "an object", ...: what was sent instead.
std::string_view kind_of(const Json& value);

}  // namespace evener::serve
