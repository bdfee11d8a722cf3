#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "doctor/text_sections.h"

namespace evener::doctor {
namespace {

std::string question_of(const host::Missing& missing) {
  std::string text = missing.what;
  if (!missing.why.empty()) text += ": " + missing.why;
  if (!missing.remedy.empty()) text += "; " + missing.remedy;
  return text;
}

}  // namespace

void add_advice(const Report& report, TextPage& page) {
  if (report.advice.empty()) return;
  page.title("How to use the cards for one model, the best first");
  for (const ModeAdvice& advice : report.advice) {
    const std::vector<Span> head = {
        {.text = advice.mode, .tone = Tone::strong},
        {.text = fmt::format(" on {}", fmt::join(advice.gpus, ", ")), .tone = Tone::plain},
        {.text = advice.why.empty() ? "" : ": " + advice.why, .tone = Tone::plain}};
    page.paragraph("  ", "    ", head);
    for (const std::string& line : advice.arithmetic) page.item("    ", line);
  }
}

void add_power(const Report& report, TextPage& page) {
  const PowerEstimate& power = report.power;
  if (!power.cards_watts && power.arithmetic.empty()) return;
  page.title("Power supply, an estimate");
  for (const std::string& line : power.arithmetic) page.item("  ", line);
  if (power.system_watts) {
    page.paragraph("  ", fmt::format("together {:.0f} W", *power.system_watts), Tone::strong);
  }
}

// Flush left: patches and commands are copied from here.
void add_kernel_help(const Report& report, TextPage& page) {
  if (report.kernel_help.empty()) return;
  page.title("Lines to copy for the kernel");
  for (const std::string& line : report.kernel_help) page.verbatim("", line);
}

void add_unknown(const host::HostFacts& facts, TextPage& page) {
  if (!facts.missing.empty()) {
    page.title("What could not be read");
    for (const host::Missing& missing : facts.missing) page.item("  ", question_of(missing));
  }
  if (facts.contradictions.empty()) return;
  page.title("Where two sources disagree");
  for (const std::string& line : facts.contradictions) page.item("  ", line);
}

}  // namespace evener::doctor
