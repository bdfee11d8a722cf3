#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bench/record.h"
#include "bench/store/database.h"
#include "bench/store/request_columns.h"
#include "bench/store/words.h"

namespace evener::bench {

// Reads the columns of one row, in their order, into variables. Every value is checked: its kind,
// its range, its word. After the first that is wrong nothing more is read, and status() names it.
class Row {
 public:
  // `place` names the row in messages: "FILE, table requests, row 17".
  Row(const Statement& statement, std::string place)
      : statement_(statement), place_(std::move(place)) {}

  Row& read(std::string& out);
  Row& read(bool& out);
  Row& read(int& out);
  Row& read(uint32_t& out);
  Row& read(uint64_t& out);
  Row& read(double& out);  // NULL is NaN
  Row& read(Nanoseconds& out);
  Row& read(Hash<uint64_t> out);
  Row& read(Finish& out);
  Row& read(Fault& out);
  Row& read(CellState& out);
  Row& read(RunState& out);
  Row& read(Severity& out);
  template <class T>
  Row& read(std::optional<T>& out) {
    if (!status_) return *this;
    if (statement_.kind(column_) == Statement::Kind::null) {
      ++column_;
      return *this;
    }
    return read(out.emplace());
  }
  std::string_view read_text();
  std::string_view read_bytes();
  int64_t read_integer(int64_t low, int64_t high);

  void fail_last(std::string why);  // about the column that was read last
  const Status& status() const { return status_; }
  const std::string& place() const { return place_; }

 private:
  void fail(std::string why, int column);
  bool is_of(Statement::Kind kind, std::string_view expected);
  template <class T, class Find>
  Row& read_word(T& out, const Find& find);

  const Statement& statement_;
  std::string place_;
  int column_ = 0;
  Status status_;
};

}  // namespace evener::bench
