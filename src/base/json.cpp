#include "base/json.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace evener::json {

bool Builder::key(std::string_view name) {
  if (open_.back().contains(name)) {
    return fail(Code::corrupt, fmt::format("names '{}' twice", printable(name, 80)));
  }
  keys_.back() = name;
  return true;
}

Status Builder::parse(std::string_view text, std::string_view where) {
  const Scan done = scan(text, *this);
  if (done.outcome == ScanOutcome::complete) return {};
  if (done.outcome == ScanOutcome::malformed) {
    fail(Code::corrupt, fmt::format("is not valid JSON at byte {}", done.offset));
  }
  error_.doing = "load model";
  error_.where = std::string(where);
  return std::move(error_);
}

bool Builder::fail(Code code, std::string why) {
  error_.code = code;
  error_.why = std::move(why);
  if (code == Code::corrupt) error_.remedy = "the file is cut short or damaged: fetch it again";
  return false;
}

bool Builder::open(Value container) {
  if (open_.size() == limits_.depth) {
    return fail(Code::limit_exceeded,
                fmt::format("is nested deeper than {} levels", limits_.depth));
  }
  open_.push_back(std::move(container));
  keys_.emplace_back();
  return true;
}

bool Builder::close() {
  Value done = std::move(open_.back());
  open_.pop_back();
  keys_.pop_back();
  return add(std::move(done));
}

bool Builder::add(Value value) {
  if (++num_values_ > limits_.num_values) {
    return fail(Code::limit_exceeded, fmt::format("has more than {} values", limits_.num_values));
  }
  if (open_.empty()) {
    root_ = std::move(value);
  } else if (Value& parent = open_.back(); parent.is_array()) {
    parent.get_ref<Value::array_t&>().push_back(std::move(value));
  } else {
    parent.get_ref<Value::object_t&>().emplace(std::move(keys_.back()), std::move(value));
  }
  return true;
}

Result<Value> parse(std::string_view text, std::string_view where, const Limits& limits) {
  Builder builder(limits);
  RETURN_IF_ERROR(builder.parse(text, where));
  return std::move(builder.root());
}

std::string_view kind(const Value& value) {
  switch (value.type()) {
    case Value::value_t::object:
      return "an object";
    case Value::value_t::array:
      return "a list";
    case Value::value_t::string:
      return "a text";
    case Value::value_t::boolean:
      return "true or false";
    case Value::value_t::number_integer:
    case Value::value_t::number_unsigned:
    case Value::value_t::number_float:
      return "a number";
    default:
      return "null";
  }
}

}  // namespace evener::json
