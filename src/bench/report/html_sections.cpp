#include "bench/report/html_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/report/html_text.h"
#include "bench/report/numbers.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr int kPhaseColours = 6;

std::string paragraph(std::string_view css_class, const Text& text) {
  if (text.empty()) return {};
  return "<p class=\"" + std::string(css_class) + "\">" + html(text) + "</p>\n";
}

std::string controls() {
  return "<div class=\"controls\">"
         "<button type=\"button\" id=\"language\">" +
         html(word("ui.language")) + "</button><button type=\"button\" id=\"theme\">" +
         html(word("ui.theme")) + "</button></div>\n";
}

// How much is wrong, seen before any figure.
std::string trouble_links(const Document& document) {
  const size_t num_void = document.void_cells.rows.size();
  const size_t num_warnings = document.warnings.size();
  if (num_void + num_warnings == 0) return {};
  std::string out = "<p class=\"trouble\">";
  if (num_void > 0) {
    out += "<a class=\"voids\" href=\"#void-cells\">" +
           html(fill(word("page.num_void"), {same(std::to_string(num_void))})) + "</a>";
  }
  if (num_warnings > 0) {
    out += "<a class=\"warning\" href=\"#warnings\">" +
           html(fill(word("page.num_warnings"), {same(std::to_string(num_warnings))})) + "</a>";
  }
  return out + "</p>\n";
}

std::string masthead(const Document& document) {
  std::string out = "<header>\n<p class=\"brand\">evener bench</p>\n" + controls() + "<h1>" +
                    html(document.title) + "</h1>\n" + paragraph("subtitle", document.subtitle) +
                    paragraph("note", document.note);
  for (const Text& why : document.run_void) {
    out += "<p class=\"run-void\" role=\"alert\">" + html(fill(word("page.run_void"), {why})) +
           "</p>\n";
  }
  return out + trouble_links(document) + "</header>\n";
}

struct Entry {
  std::string id;
  Text title;
};

std::string contents(const Document& document) {
  std::vector<Entry> entries = {{"caliber", word("page.caliber")}};
  for (const Section& section : document.sections) entries.push_back({section.id, section.title});
  entries.push_back({"warnings", word("page.warnings")});
  entries.push_back({"failures", word("page.failures")});
  entries.push_back({"not-measured", word("page.not_measured")});
  std::string out = "<nav aria-label=\"" + html_escaped(word("ui.contents").english) + "\"><ul>\n";
  for (const Entry& entry : entries) {
    out += "<li><a href=\"#" + html_escaped(entry.id) + "\">" + html(entry.title) + "</a></li>\n";
  }
  return out + "</ul></nav>\n";
}

std::string glance(const Document& document) {
  if (document.headlines.empty()) return {};
  std::string out = "<section id=\"glance\"><h2>" + html(word("page.at_a_glance")) +
                    "</h2>\n<dl class=\"figures\">\n";
  for (const Headline& each : document.headlines) {
    out += "<div><dt>" + html(each.label) + "</dt><dd><b>" + html_escaped(each.value) + "</b> " +
           html_escaped(each.unit) + "<small>" + html(each.about) + "</small></dd></div>\n";
  }
  return out + "</dl></section>\n";
}

std::string caliber(const Document& document) {
  std::string out = "<section id=\"caliber\"><h2>" + html(word("page.caliber")) + "</h2>\n";
  if (document.caliber.empty()) {
    return out + paragraph("lead", word("page.caliber_none")) + "</section>\n";
  }
  out += paragraph("lead", word("page.caliber_lead")) + "<dl class=\"caliber\">\n";
  for (const CaliberPart& part : document.caliber) {
    out += "<div><dt>" + html(part.group) + "</dt><dd>" + html(part.facts) + "</dd></div>\n";
  }
  out += "</dl>\n";
  out += paragraph("foot", fill(word("page.caliber_hash"), {same(document.caliber_hash)}));
  return out + paragraph("foot", word("page.method_lead")) + "</section>\n";
}

// Drawn without a script, so that it is there on paper and in a reader, too.
std::string phase_bar(const PhaseBar& bar) {
  double total = 0;
  for (const PhaseBar::Phase& phase : bar.phases) total += phase.seconds;
  if (!(total > 0)) return {};
  std::string out = "<figure class=\"phases\"><figcaption>" + html(bar.label) + " · " +
                    html_escaped(quantity(total, "s")) + "</figcaption>\n<div class=\"bar\">";
  std::string legend = "<ul>";
  int colour = 0;
  for (const PhaseBar::Phase& phase : bar.phases) {
    out += fmt::format("<span class=\"p{}\" style=\"flex-grow:{:.4f}\"></span>", colour,
                       100 * phase.seconds / total);
    legend += fmt::format("<li><span class=\"key p{}\"></span>{} <b>{}</b></li>", colour,
                          html(phase.name), html_escaped(quantity(phase.seconds, "s")));
    colour = (colour + 1) % kPhaseColours;
  }
  return out + "</div>\n" + legend + "</ul></figure>\n";
}

std::string chart_places(const std::vector<Chart>& charts, std::string_view section) {
  std::string out;
  for (const Chart& chart : charts) {
    if (chart.section != section) continue;
    const bool is_wide = chart.x.unit == "s";  // over time
    out += std::string("<figure class=\"chart") + (is_wide ? " wide" : "") + "\" data-chart=\"" +
           html_escaped(chart.id) + "\"><figcaption>" + html(chart.title) +
           "</figcaption><div class=\"plot\" tabindex=\"0\" role=\"img\"></div></figure>\n";
  }
  return out.empty() ? out : "<div class=\"charts\">\n" + out + "</div>\n";
}

std::string section_html(const Section& section, const std::vector<Chart>& charts) {
  std::string out = "<section id=\"" + html_escaped(section.id) + "\"><h2>" + html(section.title) +
                    "</h2>\n" + paragraph("lead", section.lead);
  for (const Table& table : section.tables) {
    if (&table == &section.tables.front()) out += html_table(table);
  }
  for (const Text& remark : section.remarks) out += paragraph("remark", remark);
  for (const PhaseBar& bar : section.bars) out += phase_bar(bar);
  out += chart_places(charts, section.id);
  for (const Table& table : section.tables) {
    if (&table != &section.tables.front()) out += html_table(table);
  }
  return out + "</section>\n";
}

std::string_view css_class(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::voids:
      return "voids";
    case Severity::warning:
      break;
  }
  return "warning";
}

std::string warnings_html(const Document& document) {
  std::string out = "<section id=\"warnings\"><h2>" + html(word("page.warnings")) + "</h2>\n";
  if (document.warnings.empty()) out += paragraph("lead", word("page.no_warnings"));
  if (!document.warnings.empty()) out += "<ul class=\"warnings\">\n";
  for (const Warning& warning : document.warnings) {
    out += "<li class=\"" + std::string(css_class(warning.severity)) + "\"><b class=\"badge\">" +
           html(severity_text(warning.severity)) + "</b><div><strong>" + html(warning.fault) +
           "</strong> <span class=\"where\">" + html(warning.where) + "</span>";
    if (!warning.detail.empty()) out += "<p>" + html_escaped(warning.detail) + "</p>";
    out += "</div></li>\n";
  }
  if (!document.warnings.empty()) out += "</ul>\n";
  return out + html_table(document.void_cells) + "</section>\n";
}

std::string not_measured_html(const Document& document) {
  std::string out =
      "<section id=\"not-measured\"><h2>" + html(word("page.not_measured")) + "</h2>\n";
  if (document.not_measured.empty()) {
    return out + paragraph("lead", word("page.nothing_left_out")) + "</section>\n";
  }
  out += "<ul class=\"plain\">\n";
  for (const Text& text : document.not_measured) out += "<li>" + html(text) + "</li>\n";
  return out + "</ul></section>\n";
}

}  // namespace

std::string html_body(const Document& document, const std::vector<Chart>& charts) {
  std::string out =
      masthead(document) + contents(document) + "<main>\n" + glance(document) + caliber(document);
  out += paragraph("nothing", document.nothing);
  for (const Section& section : document.sections) out += section_html(section, charts);
  out += warnings_html(document) + section_html(document.failures, charts) +
         not_measured_html(document) + "</main>\n<footer>";
  if (!charts.empty()) out += paragraph("screen", word("ui.chart_keys"));
  return out + paragraph("", fill(word("ui.appendix"), {same("#appendix")})) + "</footer>\n";
}

}  // namespace evener::bench
