#include "bench/report/table_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/report/numbers.h"

namespace evener::bench {

TableBuilder::TableBuilder(std::string id, Text title) {
  table_.id = std::move(id);
  table_.title = std::move(title);
}

void TableBuilder::key_column(Text title) {
  text_column(std::move(title));
  ++table_.num_key_columns;
}

void TableBuilder::text_column(Text title) {
  table_.columns.push_back(
      {.title = std::move(title), .unit = {}, .formula = {}, .is_number = false});
}

void TableBuilder::number_column(Text title, std::string unit, std::string formula) {
  table_.columns.push_back(
      {.title = std::move(title), .unit = std::move(unit), .formula = std::move(formula)});
}

void TableBuilder::row(RowMark mark) { table_.rows.push_back({.entries = {}, .mark = mark}); }

void TableBuilder::text(Text text) {
  table_.rows.back().entries.push_back({.text = std::move(text), .interval = {}});
}

void TableBuilder::number(std::optional<double> value, std::optional<Summary::Interval> interval) {
  TableRow& row = table_.rows.back();
  if (value && std::isfinite(*value)) {
    numbers_.push_back({table_.rows.size() - 1, row.entries.size(), *value, interval});
  }
  row.entries.emplace_back();
}

void TableBuilder::format_column(size_t column) {
  std::vector<double> values;
  for (const Number& each : numbers_) {
    if (each.column == column) values.push_back(each.value);
  }
  const NumberFormat format = format_for(values, table_.columns[column].unit);
  table_.columns[column].unit = format.unit;
  for (const Number& each : numbers_) {
    if (each.column != column) continue;
    TableEntry& entry = table_.rows[each.row].entries[column];
    entry.text = same(bench::number(each.value, format));
    if (!each.interval || each.interval->low == each.interval->high) continue;
    entry.interval = "[" + bench::number(each.interval->low, format) + ", " +
                     bench::number(each.interval->high, format) + "]";
  }
}

void TableBuilder::drop_empty_columns() {
  for (size_t column = table_.columns.size(); column-- > table_.num_key_columns;) {
    const auto is_empty = [&](const TableRow& row) { return row.entries[column].text.empty(); };
    if (!std::all_of(table_.rows.begin(), table_.rows.end(), is_empty)) continue;
    table_.columns.erase(table_.columns.begin() + ptrdiff_t(column));
    for (TableRow& row : table_.rows) row.entries.erase(row.entries.begin() + ptrdiff_t(column));
  }
}

Table TableBuilder::finish() {
  for (TableRow& row : table_.rows) row.entries.resize(table_.columns.size());
  for (size_t column = 0; column < table_.columns.size(); ++column) {
    if (table_.columns[column].is_number) format_column(column);
  }
  if (has_rows()) drop_empty_columns();
  return std::move(table_);
}

}  // namespace evener::bench
