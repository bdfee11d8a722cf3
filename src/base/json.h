#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_scan.h"

namespace evener::json {

using Value = nlohmann::json;

// What a document may ask for, whatever its size.
struct Limits {
  size_t depth = 32;
  size_t num_values = size_t{1} << 22;  // a parsed value takes up to some hundred bytes
};

// Builds a document from what scan() finds in its text. Member names that occur twice in one object
// are refused. Derive from it to take some of the values elsewhere. One document, one thread.
class Builder : public Events {
 public:
  explicit Builder(const Limits& limits = {}) : limits_(limits) {}

  bool null() override { return add(Value()); }
  bool boolean(bool value) override { return add(Value(value)); }
  bool integer(int64_t number) override { return add(Value(number)); }
  bool unsigned_integer(uint64_t number) override { return add(Value(number)); }
  bool real(double number) override { return add(Value(number)); }
  bool string(std::string_view text) override { return add(Value(text)); }
  bool start_object() override { return open(Value::object()); }
  bool start_array() override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string_view name) override;

  // Parses `text` into this. Errors, where `where` names the file: corrupt (no JSON, a name that
  // occurs twice), limit_exceeded.
  Status parse(std::string_view text, std::string_view where);

  Value& root() { return root_; }

 protected:
  // Ends the scan with an error; the result is false, for the caller to return.
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
