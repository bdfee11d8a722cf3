#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace evener::json {

// One object of a document, read field by field. A field that is null counts as absent. An absent
// field, another kind of value or a number outside the stated range is an error (corrupt) that
// names the file and the field; the ..._or forms give `fallback` for an absent one.
//
// The document must outlive this and what it hands out.
class Fields {
 public:
  // `value` must be an object.
  static Result<Fields> of(const Value& value, std::string where);

  const Value* find(std::string_view name) const;  // null if absent
  bool has(std::string_view name) const { return find(name) != nullptr; }

  Result<uint64_t> get_uint(std::string_view name, uint64_t max = kUintMax) const;
  Result<uint64_t> get_uint_or(std::string_view name, uint64_t fallback,
                               uint64_t max = kUintMax) const;
  Result<double> get_number(std::string_view name) const;  // finite
  Result<double> get_number_or(std::string_view name, double fallback) const;
  Result<bool> get_bool_or(std::string_view name, bool fallback) const;
  Result<std::string_view> get_string(std::string_view name) const;
  Result<std::string_view> get_string_or(std::string_view name, std::string_view fallback) const;
  Result<std::vector<std::string_view>> get_strings(std::string_view name) const;
  Result<std::vector<uint64_t>> get_uints(std::string_view name, uint64_t max = kUintMax) const;
  Result<Fields> get_object(std::string_view name) const;

  const std::string& where() const { return where_; }
  // "FILE, field 'a.b'" in front of `why`; code corrupt.
  Error error(std::string_view name, std::string why, std::string remedy = {}) const;

 private:
  static constexpr uint64_t kUintMax = std::numeric_limits<uint64_t>::max();

  Fields(const Value& object, std::string where, std::string prefix)
      : object_(&object), where_(std::move(where)), prefix_(std::move(prefix)) {}
  Result<const Value*> get(std::string_view name) const;
  Error kind_error(std::string_view name, const Value& value, std::string_view expected) const;
  Result<uint64_t> checked_uint(std::string_view name, const Value& value, uint64_t max) const;

  const Value* object_;
  std::string where_;
  std::string prefix_;  // of field names: "text_config."
};

}  // namespace evener::json
