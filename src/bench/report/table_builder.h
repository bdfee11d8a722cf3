#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/report/document.h"

namespace evener::bench {

// Collects the numbers of a table row by row, and writes each column in one format.
class TableBuilder {
 public:
  explicit TableBuilder(std::string id, Text title = {});

  // Columns first, then rows.
  void key_column(Text title);
  void text_column(Text title);
  void number_column(Text title, std::string unit, std::string formula = {});

  void row(RowMark mark = RowMark::none);
  // The next entry of the row.
  void text(Text text);
  void number(std::optional<double> value, std::optional<Summary::Interval> interval = {});
  void nothing() { number(std::nullopt); }

  // Entries that the row lacks.
  size_t num_left() const { return table_.columns.size() - table_.rows.back().entries.size(); }

  bool has_rows() const { return !table_.rows.empty(); }
  // Columns of numbers that no row has are left out.
  Table finish();

 private:
  struct Number {
    size_t row;
    size_t column;
    double value;
    std::optional<Summary::Interval> interval;
  };
  void format_column(size_t column);
  void drop_empty_columns();

  Table table_;
  std::vector<Number> numbers_;
};

}  // namespace evener::bench
