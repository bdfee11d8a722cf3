// For forums: GitHub's tables, which most of them draw, and no HTML.

#include "bench/report.h"
#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

// Text that stays what it is between Markdown's marks and in a table.
std::string escaped(std::string_view text) {
  static constexpr std::string_view kMarks = "\\`*_[]<>|#~&!";
  std::string out;
  for (const char c : text) {
    if (kMarks.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

class Writer {
 public:
  explicit Writer(Language language) : language_(language) {}

  std::string take() { return std::move(out_); }

  void write(const Document& document) {
    out_ += "# " + text(document.title) + "\n\n" + text(document.subtitle) + "\n";
    if (!document.note.empty()) paragraph(text(document.note));
    for (const Text& why : document.run_void) {
      paragraph("**" + text(fill(word("page.run_void"), {why})) + "**");
    }
    write_caliber(document);
    if (!document.nothing.empty()) paragraph(text(document.nothing));
    for (const Section& section : document.sections) write_section(section);
    write_warnings(document);
    write_section(document.failures);
    heading(word("page.not_measured"));
    if (document.not_measured.empty()) paragraph(text(word("page.nothing_left_out")));
    list(document.not_measured);
  }

 private:
  std::string text(const Text& both) const { return escaped(both.in(language_)); }
  void heading(const Text& title) { out_ += "\n## " + text(title) + "\n"; }
  void paragraph(const std::string& markdown) { out_ += "\n" + markdown + "\n"; }

  void list(const std::vector<Text>& items) {
    if (!items.empty()) out_ += '\n';
    for (const Text& item : items) out_ += "- " + text(item) + "\n";
  }

  void write_caliber(const Document& document) {
    heading(word("page.caliber"));
    if (document.caliber.empty()) return paragraph(text(word("page.caliber_none")));
    out_ += '\n';
    for (const CaliberPart& part : document.caliber) {
      out_ += "- **" + text(part.group) + "** " + text(part.facts) + "\n";
    }
    out_ += "- " + text(fill(word("page.caliber_hash"), {same(document.caliber_hash)})) + "\n";
    paragraph(text(word("page.method_lead")));
  }

  void write_section(const Section& section) {
    heading(section.title);
    if (!section.lead.empty()) paragraph(text(section.lead));
    for (const Table& table : section.tables) write_table(table);
    for (const PhaseBar& bar : section.bars) write_phases(bar);
    list(section.remarks);
  }

  std::string head_of(const TableColumn& column) const {
    return text(column.title) + (column.unit.empty() ? "" : " (" + escaped(column.unit) + ")");
  }

  void write_table(const Table& table) {
    if (!table.title.empty()) paragraph("**" + text(table.title) + "**");
    out_ += "\n|";
    for (const TableColumn& column : table.columns) out_ += " " + head_of(column) + " |";
    out_ += "\n|";
    for (const TableColumn& column : table.columns) out_ += column.is_number ? "---:|" : "---|";
    out_ += '\n';
    bool any_marked = false;
    for (const TableRow& row : table.rows) {
      any_marked = any_marked || row.mark != RowMark::none;
      write_row(row);
    }
    if (any_marked) paragraph("\\* " + text(word("page.incomplete_mark")));
    if (!table.note.empty()) paragraph(text(table.note));
    write_formulas(table);
  }

  void write_row(const TableRow& row) {
    out_ += '|';
    for (size_t i = 0; i < row.entries.size(); ++i) {
      const TableEntry& entry = row.entries[i];
      std::string cell = entry.text.empty() ? "-" : text(entry.text);
      if (!entry.interval.empty()) cell += " " + escaped(entry.interval);
      if (i + 1 == row.entries.size() && row.mark != RowMark::none) cell += " \\*";
      out_ += " " + cell + " |";
    }
    out_ += '\n';
  }

  void write_formulas(const Table& table) {
    std::string formulas;
    for (const TableColumn& column : table.columns) {
      if (column.formula.empty()) continue;
      formulas += formulas.empty() ? "" : "; ";
      formulas += text(column.title) + " = " + escaped(column.formula);
    }
    if (!formulas.empty()) paragraph(text(word("page.formulas")) + ": " + formulas);
  }

  void write_phases(const PhaseBar& bar) {
    paragraph("**" + text(bar.label) + "**");
    out_ += '\n';
    for (const PhaseBar::Phase& phase : bar.phases) {
      out_ += "- " + text(phase.name) + ": " + escaped(quantity(phase.seconds, "s")) + "\n";
    }
  }

  void write_warnings(const Document& document) {
    heading(word("page.warnings"));
    if (document.warnings.empty()) paragraph(text(word("page.no_warnings")));
    if (!document.warnings.empty()) out_ += '\n';
    for (const Warning& warning : document.warnings) {
      out_ += "- **" + text(severity_text(warning.severity)) + "** " + text(warning.fault) + " (" +
              text(warning.where) + ")";
      if (!warning.detail.empty()) out_ += ": " + escaped(warning.detail);
      out_ += '\n';
    }
    if (!document.void_cells.rows.empty()) write_table(document.void_cells);
  }

  Language language_;
  std::string out_;
};

}  // namespace

std::string report_markdown(const Run& run, Language language) {
  const Analysis analysis(run);
  Writer writer(language);
  writer.write(document_of(analysis));
  return writer.take();
}

}  // namespace evener::bench
