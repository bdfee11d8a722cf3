#include "doctor/to_text.h"

#include <algorithm>
#include <array>

#include "doctor/text_sections.h"

namespace evener::doctor {
namespace {

// The colour of the verdict: that of the worst pair, or of the worst finding.
Tone tone_of(const Report& report) {
  Tone tone = Tone::good;
  const auto worsen = [&tone](Tone other) { tone = std::max(tone, other); };
  for (const PairReport& pair : report.pairs) worsen(doctor::tone_of(pair));
  for (const Finding& finding : report.findings) {
    if (finding.severity == Finding::Severity::problem) worsen(Tone::bad);
    if (finding.severity == Finding::Severity::warning) worsen(Tone::caution);
  }
  return tone;
}

void add_list(std::string_view title, const std::vector<std::string>& lines, TextPage& page) {
  if (lines.empty()) return;
  page.title(title);
  for (const std::string& line : lines) page.item("  ", line);
}

}  // namespace

std::string to_text(const host::HostFacts& facts, const Report& report, const TextStyle& style) {
  TextPage page(style);
  page.paragraph("", report.summary, tone_of(report));
  add_machine(facts, page);
  add_tree(facts, page);
  add_pairs(facts, report, page);
  add_findings(report, page);
  add_fixes(report, page);
  add_advice(report, page);
  add_power(report, page);
  add_kernel_help(report, page);
  add_unknown(facts, page);
  return page.take();
}

std::string to_text(const Changes& changes, const TextStyle& style) {
  TextPage page(style);
  if (changes.facts.empty() && changes.verdicts.empty()) {
    page.paragraph("", "Nothing that matters here has changed.");
  }
  add_list("What is different on the machine", changes.facts, page);
  add_list("What that changes", changes.verdicts, page);
  return page.take();
}

}  // namespace evener::doctor
