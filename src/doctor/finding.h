#pragma once

#include <string>
#include <utility>

#include "doctor/report.h"
#include "doctor/rules.h"

// Short forms in which rules state what they found.

namespace evener::doctor {

inline Finding finding(Finding::Severity severity, std::string title) {
  Finding result;
  result.severity = severity;
  result.title = std::move(title);
  return result;
}

inline Outcome outcome(Finding::Severity severity, std::string title, Verdict verdict) {
  Outcome result;
  result.finding = finding(severity, std::move(title));
  result.verdict = verdict;
  return result;
}

inline Outcome passes(std::string title) {
  return outcome(Finding::Severity::pass, std::move(title), Verdict::works);
}
inline Outcome degrades(std::string title) {
  return outcome(Finding::Severity::warning, std::move(title), Verdict::degraded);
}
inline Outcome is_unsafe(std::string title) {
  return outcome(Finding::Severity::problem, std::move(title), Verdict::unsafe);
}
inline Outcome blocks(std::string title) {
  return outcome(Finding::Severity::problem, std::move(title), Verdict::blocked);
}

// A remark on a pair that does not decide it.
inline Outcome remarks(std::string title) {
  Outcome result = outcome(Finding::Severity::note, std::move(title), Verdict::works);
  result.decides = false;
  return result;
}

}  // namespace evener::doctor
