#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "bench/compare.h"

namespace evener::bench {
namespace {

constexpr size_t kWordsMax = 60;

std::string fact(const Caliber& caliber, const std::string& name) {
  const auto found = caliber.find(name);
  return found == caliber.end() ? std::string() : printable(found->second, kWordsMax);
}

std::string run_line(char name, const Run& run) {
  const Caliber& caliber = run.header.caliber;
  const auto started = std::chrono::time_point_cast<std::chrono::seconds>(run.header.started);
  std::string line = fmt::format("{}  {}  {:%Y-%m-%d %H:%M} UTC", name,
                                 printable(run.header.id, kWordsMax), started);
  for (const char* const known : {"server.kind", "server.version", "model.id"}) {
    const std::string word = fact(caliber, known);
    if (!word.empty()) line += "  " + word;
  }
  if (!run.header.note.empty()) line += "  " + printable(run.header.note, kWordsMax);
  return line + "\n";
}

std::string differences_text(const Comparison& comparison, CaliberRule rule,
                             std::string_view title) {
  std::string out;
  for (const CaliberDifference& d : comparison.differences) {
    if (d.rule != rule) continue;
    const auto word = [](const std::string& text) {
      return text.empty() ? std::string("unknown") : printable(text, kWordsMax);
    };
    out += fmt::format("  {:<32} {}  ->  {}\n", printable(d.name, kWordsMax), word(d.in_a),
                       word(d.in_b));
  }
  return out.empty() ? out : fmt::format("\n{}\n{}", title, out);
}

// Four digits that mean something.
std::string figure(double value) {
  const double size = std::abs(value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  if (size >= 100) return fmt::format("{:.1f}", value);
  if (size >= 10) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

std::string verdict_text(const MetricComparison& m) {
  using enum MetricComparison::Verdict;
  const double percent = m.estimate ? std::abs(m.estimate->ratio - 1) * 100 : 0;
  switch (m.verdict) {
    case too_few:
      if (m.median_a <= 0) return "no ratio: A is 0";
      return fmt::format("no interval (n {} and {})", m.num_a, m.num_b);
    case noise_unknown:
      return "not judged: A has one round";
    case no_difference:
      return "no difference shown";
    case better:
      return fmt::format("better by {:.1f} %", percent);
    case worse:
      return fmt::format("worse by {:.1f} %", percent);
    case differs:
      break;
  }
  return fmt::format("differs by {:.1f} %", percent);
}

std::string metric_line(const MetricComparison& m) {
  std::string name = printable(m.key, kWordsMax);
  if (find_metric(m.key) == nullptr && !m.unit.empty()) name += ", " + printable(m.unit, 12);
  if (!m.role.empty()) name += fmt::format(" ({})", printable(m.role, 20));
  std::string ratio;
  std::string interval;
  if (m.estimate) {
    ratio = fmt::format("{:.3f}", m.estimate->ratio);
    interval = fmt::format("{:.3f} .. {:.3f}", m.estimate->interval.low, m.estimate->interval.high);
  }
  const std::string noise = m.noise_floor ? fmt::format("{:.1f} %", *m.noise_floor * 100) : "";
  return fmt::format("  {:<36} {:>10} {:>10} {:>7} {:>16} {:>8}  {}\n", name, figure(m.median_a),
                     figure(m.median_b), ratio, interval, noise, verdict_text(m));
}

std::string point_text(const PointComparison& point) {
  std::string title = printable(point.experiment, kWordsMax);
  for (const auto& [name, word] : point.target) {
    title += fmt::format(", {} {}", printable(name, kWordsMax), printable(word, kWordsMax));
  }
  std::string out =
      fmt::format("\n{} (rounds: {} and {})\n", title, point.num_rounds_a, point.num_rounds_b);
  out += fmt::format("  {:<36} {:>10} {:>10} {:>7} {:>16} {:>8}\n", "median", "A", "B", "B / A",
                     "95 % interval", "noise");
  for (const MetricComparison& m : point.metrics) {
    if (m.median_a != 0 || m.median_b != 0) out += metric_line(m);
  }
  return out;
}

std::string outputs_text(const OutputComparison& outputs) {
  if (!outputs.judged) return "Answers are not compared: they were drawn at a temperature.\n";
  if (outputs.num_prompts == 0) {
    return "Answers are not compared: no prompt was asked in both runs.\n";
  }
  std::string out = fmt::format("Answers: {} of {} prompts that both runs asked have the same one.",
                                outputs.num_same, outputs.num_prompts);
  if (!outputs.first_difference.empty()) {
    out += fmt::format(" The first that differs: {}.", printable(outputs.first_difference));
  }
  return out + "\n";
}

std::string footer(const Comparison& c) {
  std::string out =
      "\nB / A: ratio of medians; its interval by a bootstrap over rounds, then requests. noise: "
      "how far\na run lies from itself; an effect within it is no difference.\n";
  out += fmt::format(
      "{} figures were judged; about {:.0f} of them would show a difference by chance alone.\n",
      c.num_comparisons, std::ceil(double(c.num_comparisons) / 20));
  if (c.num_left_out_a + c.num_left_out_b > 0) {
    out += fmt::format("Left out, as voided or incomplete: {} cells of A, {} of B.\n",
                       c.num_left_out_a, c.num_left_out_b);
  }
  if (c.num_only_in_a + c.num_only_in_b > 0) {
    out += fmt::format("Measured in one run alone: {} points of A, {} of B.\n", c.num_only_in_a,
                       c.num_only_in_b);
  }
  return out + outputs_text(c.outputs);
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Run& a, const Run& b) {
  std::string out = run_line('A', a) + run_line('B', b);
  out += differences_text(comparison, CaliberRule::must_match,
                          "OF DIFFERENT CALIBERS: what follows may come from any of");
  out += differences_text(comparison, CaliberRule::under_test, "Under test:");
  out += differences_text(comparison, CaliberRule::for_readers, "Also different:");
  for (const PointComparison& point : comparison.points) out += point_text(point);
  return out + footer(comparison);
}

}  // namespace evener::bench
