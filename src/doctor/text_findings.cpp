#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/fixes.h"
#include "doctor/text_sections.h"

namespace evener::doctor {
namespace {

using Severity = Finding::Severity;

constexpr size_t kNamesMax = 12;

Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::pass:
      return Tone::good;
    case Severity::note:
      return Tone::plain;
    case Severity::warning:
      return Tone::caution;
    case Severity::problem:
      return Tone::bad;
  }
  return Tone::plain;
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesMax); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", short_name(names[i]));
  }
  if (names.size() > kNamesMax) text += fmt::format(" and {} more", names.size() - kNamesMax);
  return text;
}

// "B>A" of "A>B"; empty where it is no direction.
std::string other_way(const std::string& pair) {
  const size_t at = pair.find('>');
  if (at == std::string::npos) return {};
  return pair.substr(at + 1) + ">" + pair.substr(0, at);
}

// Both directions of a pair as one: "A-B".
std::vector<std::string> joined_pairs(const std::vector<std::string>& pairs) {
  const std::set<std::string> all(pairs.begin(), pairs.end());
  std::vector<std::string> joined;
  std::set<std::string> done;
  for (std::string pair : pairs) {
    const std::string other = other_way(pair);
    if (done.contains(other)) continue;
    done.insert(pair);
    if (all.contains(other)) pair[pair.find('>')] = '-';
    joined.push_back(std::move(pair));
  }
  return joined;
}

// Whom a finding is about; the narrower way to say it.
std::string about(const Finding& finding, const Report& report) {
  if (finding.pairs.empty()) return names_text(finding.gpus);
  const std::vector<std::string> pairs = joined_pairs(finding.pairs);
  const bool is_all = pairs.size() > 1 && pairs.size() == report.pairs.size() &&
                      std::ranges::all_of(pairs, [](const std::string& pair) {
                        return pair.find('>') == std::string::npos;
                      });
  return is_all ? "all pairs" : names_text(pairs);
}

void add_finding(const Finding& finding, const Report& report, TextPage& page) {
  const std::string whom = about(finding, report);
  const std::vector<Span> head = {
      {.text = fmt::format("{} {}", to_string(finding.severity), finding.rule),
       .tone = tone_of(finding.severity)},
      {.text = ": ", .tone = Tone::plain},
      {.text = finding.title, .tone = Tone::strong},
      {.text = whom.empty() ? "" : fmt::format(" [{}]", whom), .tone = Tone::quiet}};
  page.paragraph("  ", "    ", head);
  for (const std::string& fact : finding.evidence) page.item("    ", fact);
  for (const std::string& said : finding.says) page.paragraph("    ", said);
  if (!finding.fixes.empty()) {
    page.paragraph("    ", fmt::format("fixes: {}", fmt::join(finding.fixes, ", ")), Tone::quiet);
  }
}

void add_passed(const Report& report, TextPage& page) {
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::pass) continue;
    const std::string whom = about(finding, report);
    const std::vector<Span> line = {
        {.text = fmt::format("passed {}", finding.rule), .tone = Tone::good},
        {.text = fmt::format(": {}", finding.title), .tone = Tone::plain},
        {.text = whom.empty() ? "" : fmt::format(" [{}]", whom), .tone = Tone::quiet}};
    page.paragraph("  ", "    ", line);
    for (const std::string& said : finding.says) page.paragraph("    ", said);
  }
}

void add_fix(size_t number, const Fix& fix, TextPage& page) {
  const std::string first = fmt::format("  {}. ", number);
  const std::string rest(first.size(), ' ');
  const std::vector<Span> head = {
      {.text = std::string(fix.id), .tone = Tone::strong},
      {.text = fmt::format(" {} ", fix.action), .tone = Tone::plain},
      {.text = fmt::format("(risk: {}{})", to_string(fix.risk),
                           fix.undo.empty() ? "" : fmt::format("; undone by: {}", fix.undo)),
       .tone = tone_of(fix.risk)}};
  page.paragraph(first, rest, head);
  if (!fix.verify.empty()) page.paragraph(rest, fmt::format("then check: {}", fix.verify));
  if (!fix.command.empty()) page.verbatim(rest + "  ", fix.command, Tone::quiet);
}

}  // namespace

void add_findings(const Report& report, TextPage& page) {
  if (report.findings.empty()) return;
  page.title("Findings");
  bool is_first = true;
  for (const Finding& finding : report.findings) {
    if (finding.severity == Severity::pass) continue;
    if (!std::exchange(is_first, false)) page.blank();
    add_finding(finding, report, page);
  }
  const bool has_passed =
      std::ranges::count(report.findings, Severity::pass, &Finding::severity) > 0;
  if (!is_first && has_passed) page.blank();
  add_passed(report, page);
}

void add_fixes(const Report& report, TextPage& page) {
  if (report.fixes.empty()) return;
  page.title("What to change, in the order to try");
  size_t number = 0;
  for (const std::string& id : report.fixes) {
    if (const Fix* fix = find_fix(id)) add_fix(++number, *fix, page);
  }
}

}  // namespace evener::doctor
