#include "doctor/report.h"

#include <algorithm>
#include <array>

namespace evener::doctor {
namespace {

template <size_t N, class Enum>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<size_t>(value)];
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 5> kNames = {"works", "degraded", "unknown",
                                                             "unsafe", "blocked"};
  return name_of(kNames, verdict);
}

bool is_allowed(const PairReport& pair) { return pair.verdict == Verdict::works && !pair.verified; }

std::string_view word_of(const PairReport& pair) {
  return is_allowed(pair) ? "allowed" : to_string(pair.verdict);
}

std::string_view to_string(Route route) {
  static constexpr std::array<std::string_view, 4> kNames = {"unknown", "switch", "root",
                                                             "cross-host"};
  return name_of(kNames, route);
}

std::string_view to_string(Risk risk) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "none", "low", "low to medium", "medium", "medium to high", "high"};
  return name_of(kNames, risk);
}

std::string_view to_string(Finding::Severity severity) {
  static constexpr std::array<std::string_view, 4> kNames = {"pass", "note", "warning", "problem"};
  return name_of(kNames, severity);
}

bool has_findings(const Report& report) {
  const bool all_pairs_work = std::ranges::all_of(
      report.pairs, [](const PairReport& pair) { return pair.verdict == Verdict::works; });
  const bool all_is_well = std::ranges::all_of(report.findings, [](const Finding& finding) {
    return finding.severity < Finding::Severity::warning;
  });
  return !all_pairs_work || !all_is_well;
}

}  // namespace evener::doctor
