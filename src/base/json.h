#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace evener::json {

using Value = nlohmann::json;

// What a document may ask for, whatever its size.
struct Limits {
  size_t depth = 32;
  size_t num_values = size_t{1} << 22;  // a parsed value takes up to some hundred bytes
};

// Builds a document from the events of the library's parser. Member names that occur twice in one
// object are refused, where the library keeps the last without a word. Derive from it to take some
// of the values elsewhere. One document, one thread.
class Builder : public nlohmann::json_sax<Value> {
 public:
  explicit Builder(const Limits& limits = {}) : limits_(limits) {}

  bool null() override { return add(Value()); }
  bool boolean(bool value) override { return add(Value(value)); }
  bool number_integer(number_integer_t value) override { return add(Value(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Value(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(Value(value)); }
  bool string(string_t& value) override { return add(Value(std::move(value))); }
  bool binary(binary_t&) override { return fail(Code::corrupt, "has binary values"); }
  bool start_object(size_t) override { return open(Value::object()); }
  bool start_array(size_t) override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override;
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override;

  // Parses `text` into this. Errors, where `where` names the file: corrupt (no JSON, a name that
  // occurs twice), limit_exceeded.
  Status parse(std::string_view text, std::string_view where);

  Value& root() { return root_; }

 protected:
  // Ends the parsing with an error; the result is false, for the parser.
  bool fail(Code code, std::string why);
  size_t depth() const { return open_.size(); }  // containers that are open

 private:
  bool open(Value container);
  bool close();
  bool add(Value value);

  Limits limits_;
  size_t num_values_ = 0;
  Value root_;
  std::vector<Value> open_;        // outermost first
  std::vector<std::string> keys_;  // of the value that comes next, one for each of open_
  Error error_;
};

// A whole document. Time and memory are linear in the text's size. Errors: as Builder::parse.
Result<Value> parse(std::string_view text, std::string_view where, const Limits& limits = {});

// "a number", "an object": what a value is, for messages.
std::string_view kind(const Value& value);

}  // namespace evener::json
