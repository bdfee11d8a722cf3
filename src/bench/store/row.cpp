#include "bench/store/row.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "base/text.h"
#include "bench/store/events_blob.h"

namespace evener::bench {
namespace {

constexpr std::string_view name_of(Statement::Kind kind) {
  switch (kind) {
    case Statement::Kind::integer:
      return "an integer";
    case Statement::Kind::real:
      return "a number";
    case Statement::Kind::text:
      return "a text";
    case Statement::Kind::bytes:
      return "bytes";
    case Statement::Kind::null:
      break;
  }
  return "missing";
}

}  // namespace

void Row::fail(std::string why, int column) {
  if (!status_) return;
  status_ = Error{.code = Code::corrupt,
                  .doing = "read the store of results",
                  .where = fmt::format("{}, column '{}'", place_, statement_.column_name(column)),
                  .why = std::move(why),
                  .remedy = ""};
}

void Row::fail_last(std::string why) { fail(std::move(why), column_ - 1); }

bool Row::is_of(Statement::Kind kind, std::string_view expected) {
  if (!status_) return false;
  const Statement::Kind found = statement_.kind(column_);
  if (found == kind) return true;
  fail(fmt::format("it is {}, expected {}", name_of(found), expected), column_);
  return false;
}

std::string_view Row::read_text() {
  if (!is_of(Statement::Kind::text, "a text")) return {};
  return statement_.bytes(column_++);
}

std::string_view Row::read_bytes() {
  if (!is_of(Statement::Kind::bytes, "bytes")) return {};
  return statement_.bytes(column_++);
}

int64_t Row::read_integer(int64_t low, int64_t high) {
  if (!is_of(Statement::Kind::integer, "an integer")) return low;
  const int64_t value = statement_.integer(column_);
  if (value < low || value > high) {
    fail(fmt::format("it is {}, expected {} to {}", value, low, high), column_);
    return low;
  }
  ++column_;
  return value;
}

Row& Row::read(std::string& out) {
  out = read_text();
  return *this;
}

Row& Row::read(bool& out) {
  out = read_integer(0, 1) != 0;
  return *this;
}

Row& Row::read(int& out) {
  out = int(read_integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  return *this;
}

Row& Row::read(uint32_t& out) {
  out = uint32_t(read_integer(0, std::numeric_limits<uint32_t>::max()));
  return *this;
}

Row& Row::read(uint64_t& out) {
  out = uint64_t(read_integer(0, std::numeric_limits<int64_t>::max()));
  return *this;
}

Row& Row::read(double& out) {
  if (!status_) return *this;
  if (statement_.kind(column_) == Statement::Kind::null) {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (is_of(Statement::Kind::real, "a number")) {
    out = statement_.real(column_);
  } else {
    return *this;
  }
  ++column_;
  return *this;
}

Row& Row::read(Nanoseconds& out) {
  out = Nanoseconds(read_integer(-kTimeMax.count(), kTimeMax.count()));
  return *this;
}

Row& Row::read(Hash<uint64_t> out) {
  if (!is_of(Statement::Kind::text, "a text")) return *this;
  const std::string_view digits = statement_.bytes(column_);
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, out.value, 16);
  if (digits.size() != 16 || error != std::errc() || rest != end) {
    fail("it is no hash of 16 hexadecimal digits", column_);
    return *this;
  }
  ++column_;
  return *this;
}

template <class T, class Find>
Row& Row::read_word(T& out, const Find& find) {
  if (!is_of(Statement::Kind::text, "a text")) return *this;
  const std::string_view word = statement_.bytes(column_);
  const std::optional<T> found = find(word);
  if (!found) {
    fail(fmt::format("'{}' is none of its words", printable(word, 40)), column_);
    return *this;
  }
  out = *found;
  ++column_;
  return *this;
}

Row& Row::read(Finish& out) { return read_word(out, finish_of); }
Row& Row::read(Fault& out) { return read_word(out, fault_of); }
Row& Row::read(CellState& out) { return read_word(out, cell_state_of); }
Row& Row::read(RunState& out) { return read_word(out, run_state_of); }
Row& Row::read(Severity& out) { return read_word(out, severity_of); }

}  // namespace evener::bench
