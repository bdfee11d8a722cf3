#include <algorithm>

#include "bench/report/html_sections.h"
#include "bench/report/html_text.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

std::string head_cell(const TableColumn& column) {
  std::string out = column.is_number ? "<th scope=\"col\" class=\"number\"" : "<th scope=\"col\"";
  if (!column.formula.empty()) out += " title=\"" + html_escaped(column.formula) + "\"";
  out += ">" + html(column.title);
  if (!column.unit.empty()) out += "<small>" + html_escaped(column.unit) + "</small>";
  return out + "</th>";
}

std::string body_row(const Table& table, const TableRow& row) {
  std::string out = row.mark == RowMark::none           ? "<tr>"
                    : row.mark == RowMark::fewer_rounds ? "<tr class=\"fewer\">"
                                                        : "<tr class=\"void\">";
  for (size_t i = 0; i < row.entries.size(); ++i) {
    const TableEntry& entry = row.entries[i];
    const bool is_key = i < table.num_key_columns;
    out += is_key                       ? "<th scope=\"row\">"
           : table.columns[i].is_number ? "<td class=\"number\">"
                                        : "<td>";
    out += entry.text.empty() && !is_key ? "<i>–</i>" : html(entry.text);
    if (!entry.interval.empty()) out += "<small>" + html_escaped(entry.interval) + "</small>";
    if (i + 1 == row.entries.size() && row.mark != RowMark::none) out += "<b class=\"mark\">*</b>";
    out += is_key ? "</th>" : "</td>";
  }
  return out + "</tr>\n";
}

std::string formulas(const Table& table) {
  std::string list;
  for (const TableColumn& column : table.columns) {
    if (column.formula.empty()) continue;
    list += "<div><dt>" + html(column.title) + "</dt><dd><code>" + html_escaped(column.formula) +
            "</code></dd></div>\n";
  }
  if (list.empty()) return {};
  return "<details class=\"formulas\"><summary>" + html(word("page.formulas")) +
         "</summary><dl>\n" + list + "</dl></details>\n";
}

constexpr size_t kFewColumns = 5;  // these do not spread over the whole page

// Names that are sentences break; "8192" and "cpu0 -> cpu1" do not.
bool has_long_names(const Table& table) {
  constexpr size_t kLongColumns = 24;
  return std::any_of(table.rows.begin(), table.rows.end(), [](const TableRow& row) {
    return columns_of(row.entries.front().text.english) > kLongColumns;
  });
}

}  // namespace

std::string html_table(const Table& table) {
  if (table.rows.empty()) return {};
  std::string out;
  const std::string id = html_escaped(table.id);
  if (!table.title.empty()) out += "<h3>" + html(table.title) + "</h3>\n";
  out += "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"" + id +
         "\"><table id=\"" + id +
         (has_long_names(table)                 ? "\" class=\"words"
          : table.columns.size() <= kFewColumns ? "\" class=\"few"
                                                : "") +
         "\">\n<thead><tr>";
  for (const TableColumn& column : table.columns) out += head_cell(column);
  out += "</tr></thead>\n<tbody>\n";
  bool any_marked = false;
  for (const TableRow& row : table.rows) {
    out += body_row(table, row);
    any_marked = any_marked || row.mark != RowMark::none;
  }
  out += "</tbody></table></div>\n";
  if (any_marked) {
    out += "<p class=\"foot\"><b class=\"mark\">*</b> " + html(word("page.incomplete_mark")) +
           "</p>\n";
  }
  if (!table.note.empty()) out += "<p class=\"foot\">" + html(table.note) + "</p>\n";
  return out + formulas(table);
}

}  // namespace evener::bench
