#include <algorithm>

#include "bench/report.h"
#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/spark.h"
#include "bench/report/text_table.h"
#include "bench/report/words.h"
#include "bench/report/wrap.h"

namespace evener::bench {
namespace {

constexpr size_t kWidthMin = 40;
constexpr size_t kSparkColumns = 40;
constexpr std::string_view kIndent = "  ";

enum class Tone : uint8_t { plain, strong, quiet, caution, bad };

std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "\033[1m";
    case Tone::quiet:
      return "\033[2m";
    case Tone::caution:
      return "\033[33m";
    case Tone::bad:
      return "\033[31m";
  }
  return "";
}

Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return Tone::quiet;
    case Severity::warning:
      return Tone::caution;
    case Severity::voids:
      return Tone::bad;
  }
  return Tone::plain;
}

class Page {
 public:
  Page(Language language, const TerminalStyle& style)
      : language_(language), style_(style), width_(std::max<size_t>(style.width, kWidthMin)) {}

  std::string take() {
    if (!style_.ascii) return std::move(out_);
    for (size_t at = 0; (at = out_.find("°", at)) != std::string::npos;) out_.erase(at, 2);
    return std::move(out_);
  }

  void write(const Document& document) {
    paragraph("", document.title, Tone::strong);
    paragraph("", document.subtitle, Tone::quiet);
    if (!document.note.empty()) paragraph("", document.note);
    for (const Text& why : document.run_void) {
      paragraph("", fill(word("page.run_void"), {why}), Tone::bad);
    }
    write_caliber(document);
    write_headlines(document.headlines);
    if (!document.nothing.empty()) paragraph(kIndent, document.nothing, Tone::caution);
    for (const Section& section : document.sections) write_section(section);
    write_warnings(document);
    write_section(document.failures);
    heading(word("page.not_measured"));
    if (document.not_measured.empty()) paragraph(kIndent, word("page.nothing_left_out"));
    for (const Text& text : document.not_measured) item(text, Tone::plain);
  }

 private:
  void line(std::string_view text, Tone tone = Tone::plain) {
    const std::string_view colour = style_.colour ? colour_of(tone) : "";
    out_ += colour;
    out_ += text;
    out_ += colour.empty() ? "\n" : "\033[0m\n";
  }

  void paragraph(std::string_view indent, const Text& text, Tone tone = Tone::plain,
                 std::string_view first = {}) {
    bool is_first = true;
    for (const std::string& each : wrap(text.in(language_), width_ - columns_of(indent))) {
      line(std::string(is_first && !first.empty() ? first : indent) + each, tone);
      is_first = false;
    }
  }

  void item(const Text& text, Tone tone) { paragraph("    ", text, tone, "  - "); }

  void heading(const Text& text) {
    out_ += '\n';
    std::vector<std::string> lines = wrap(text.in(language_), width_);
    const size_t columns = columns_of(lines.back()) + 1;
    for (size_t i = columns; i < std::min<size_t>(width_, 72); ++i) {
      if (i == columns) lines.back() += ' ';
      lines.back() += style_.ascii ? "-" : "─";
    }
    for (const std::string& each : lines) line(each, Tone::strong);
  }

  void write_caliber(const Document& document) {
    heading(word("page.caliber"));
    if (document.caliber.empty())
      return paragraph(kIndent, word("page.caliber_none"), Tone::caution);
    Text all;
    for (const CaliberPart& part : document.caliber) {
      all = all + part.group + Text{": ", "："} + part.facts + Text{". ", "。"};
    }
    all = all + fill(word("page.caliber_hash"), {same(document.caliber_hash)}) + Text{".", "。"};
    paragraph(kIndent, all);
    paragraph(kIndent, word("page.method_lead"), Tone::quiet);
  }

  void write_headlines(const std::vector<Headline>& headlines) {
    if (headlines.empty()) return;
    heading(word("page.at_a_glance"));
    size_t label_columns = 0;
    size_t value_columns = 0;
    for (const Headline& each : headlines) {
      label_columns = std::max(label_columns, columns_of(each.label.in(language_)));
      value_columns = std::max(value_columns, columns_of(each.value + " " + each.unit));
    }
    for (const Headline& each : headlines) {
      const std::string head = std::string(kIndent) +
                               pad_right(each.label.in(language_), label_columns) + "  " +
                               pad_left(each.value + " " + each.unit, value_columns);
      const std::string about = "  " + each.about.in(language_);
      line(columns_of(head + about) <= width_ ? head + about : head);
    }
  }

  void write_section(const Section& section) {
    heading(section.title);
    if (!section.lead.empty()) paragraph(kIndent, section.lead, Tone::quiet);
    for (const Table& table : section.tables) write_table(table);
    for (const Spark& spark : section.sparks) write_spark(section, spark);
    for (const PhaseBar& phases : section.bars) write_phases(phases);
    for (const Text& remark : section.remarks) paragraph(kIndent, remark);
  }

  void write_table(const Table& table) {
    if (!table.title.empty()) {
      out_ += '\n';
      paragraph(kIndent, table.title);
    }
    const TextTableStyle style{
        .language = language_, .width = width_, .indent = std::string(kIndent)};
    bool any_marked = false;
    for (const TextTableLine& each : text_table(table, style)) {
      using Kind = TextTableLine::Kind;
      any_marked = any_marked || each.kind == Kind::marked;
      line(each.text, each.kind == Kind::head     ? Tone::quiet
                      : each.kind == Kind::marked ? Tone::caution
                                                  : Tone::plain);
    }
    if (any_marked) paragraph("    ", word("page.incomplete_mark"), Tone::caution, "  * ");
    if (!table.note.empty()) paragraph(kIndent, table.note, Tone::quiet);
  }

  void write_spark(const Section& section, const Spark& spark) {
    size_t label_columns = 0;
    for (const Spark& each : section.sparks) {
      label_columns = std::max(label_columns, columns_of(each.label.in(language_)));
    }
    label_columns = std::min(label_columns, width_ / 2);
    const std::vector<double> values =
        peaks(spark.values, std::min(kSparkColumns, width_ - label_columns - 4));
    const double low = *std::min_element(spark.values.begin(), spark.values.end());
    const double high = *std::max_element(spark.values.begin(), spark.values.end());
    const std::string head =
        std::string(kIndent) +
        pad_right(wrap(spark.label.in(language_), label_columns)[0], label_columns) + "  " +
        spark_line(values, style_.ascii);
    const std::string range =
        "  " + quantity(low, spark.unit) + (style_.ascii ? ".." : "–") + quantity(high, spark.unit);
    line(columns_of(head + range) <= width_ ? head + range : head);
  }

  void write_phases(const PhaseBar& phases) {
    double total = 0;
    size_t label_columns = 0;
    for (const PhaseBar::Phase& phase : phases.phases) {
      total += phase.seconds;
      label_columns = std::max(label_columns, columns_of(phase.name.in(language_)));
    }
    label_columns = std::min(label_columns, width_ / 3);
    out_ += '\n';
    paragraph(kIndent, phases.label);
    for (const PhaseBar::Phase& phase : phases.phases) {
      const double share = total > 0 ? phase.seconds / total : 0;
      line("    " + pad_right(wrap(phase.name.in(language_), label_columns)[0], label_columns) +
           "  " + pad_left(quantity(phase.seconds, "s"), 9) + "  " +
           bar(share, std::min<size_t>(40, width_ - label_columns - 18), style_.ascii));
    }
  }

  void write_warnings(const Document& document) {
    heading(word("page.warnings"));
    if (document.warnings.empty()) paragraph(kIndent, word("page.no_warnings"), Tone::quiet);
    for (const Warning& warning : document.warnings) {
      const Text colon{": ", "："};
      Text text = warning.fault + Text{" (", "（"} + warning.where + Text{")", "）"};
      if (!warning.detail.empty()) text = text + colon + same(warning.detail);
      item(severity_text(warning.severity) + colon + text, tone_of(warning.severity));
    }
    if (!document.void_cells.rows.empty()) write_table(document.void_cells);
  }

  Language language_;
  const TerminalStyle& style_;
  size_t width_;
  std::string out_;
};

}  // namespace

std::string report_text(const Run& run, Language language, const TerminalStyle& style) {
  const Analysis analysis(run);
  Page page(language, style);
  page.write(document_of(analysis));
  return page.take();
}

}  // namespace evener::bench
