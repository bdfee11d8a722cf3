#include "doctor/report_words.h"

#include <vector>

#include "doctor/fixes.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

void add(std::string& text, std::string_view line) {
  text += line;
  text += '\n';
}

void add(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) add(text, line);
}

}  // namespace

std::string words_of(const Report& report) {
  std::string text;
  add(text, report.summary);
  for (const PairReport& pair : report.pairs) add(text, pair.because);
  for (const Finding& finding : report.findings) {
    add(text, finding.title);
    add(text, finding.evidence);
    add(text, finding.says);
  }
  for (const std::string& id : report.fixes) add(text, find_fix(id)->action);
  for (const ModeAdvice& advice : report.advice) {
    add(text, advice.why);
    add(text, advice.arithmetic);
  }
  add(text, report.power.arithmetic);
  add(text, report.kernel_help);
  return lower_case(text);
}

}  // namespace evener::doctor
