#include "bench/report/document.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "bench/report/numbers.h"
#include "bench/report/words.h"
#include "bench/store/words.h"

namespace evener::bench {
namespace {

std::string utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", parts);
}

Text title_of(const RunHeader& header) {
  Text title = word("page.title");
  const auto model = header.caliber.find("model.id");
  if (model == header.caliber.end()) return title;
  return title + Text{": ", "："} + same(shown(model->second, 120));
}

// "length" for "Length", but "ISA" as it is.
Text inside_sentence(Text text) {
  std::string& english = text.english;
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (english.size() > 1 && is_capital(english[0]) && !is_capital(english[1])) {
    english[0] = char(english[0] - 'A' + 'a');
  }
  return text;
}

Text subtitle_of(const Run& run) {
  const Text comma{", ", "，"};
  return fill(word("page.run"), {same(shown(run.header.id, 60))}) + comma +
         word_or_name("experiment", run.header.name) + comma +
         fill(word("page.started"), {same(utc(run.header.started))}) + comma +
         word_or_name("run_state", to_word(run.state));
}

}  // namespace

Text target_value(std::string_view key, std::string_view value) {
  if (key.ends_with("_bytes")) {
    double bytes = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
    if (error == std::errc() && end == value.data() + value.size() && std::isfinite(bytes)) {
      return same(quantity(bytes, "bytes"));
    }
  }
  const std::string group = "word." + shown(key, 40);
  if (find_word(group + "." + std::string(value)) != nullptr) return word_or_name(group, value);
  if (find_word("word." + std::string(value)) != nullptr) return word_or_name("word", value);
  return same(shown(value, 80));  // a name: "Q4_0" keeps its underscore
}

Text point_name(const std::map<std::string, std::string>& target) {
  Text name;
  for (const auto& [key, value] : target) {
    if (!name.empty()) name = name + Text{", ", "，"};
    name =
        name + inside_sentence(word_or_name("target", key)) + same(" ") + target_value(key, value);
  }
  return name;
}

Text cell_name(const CellRecord& cell) {
  const Text experiment = word_or_name("experiment", cell.experiment);
  if (cell.target.empty()) return experiment;
  return experiment + Text{", ", "，"} + point_name(cell.target);
}

Text cell_and_round(const CellRecord& cell) {
  return cell_name(cell) + Text{", round ", "，第 "} + same(std::to_string(cell.round)) +
         Text{"", " 轮"};
}

Document document_of(const Analysis& analysis) {
  const Run& run = analysis.run();
  Document document{
      .title = title_of(run.header),
      .subtitle = subtitle_of(run),
      .note = run.header.note.empty()
                  ? Text{}
                  : fill(word("page.note"), {same(shown(run.header.note, 1000))}),
      .headlines = headlines(analysis),
      .caliber = caliber_parts(run.header.caliber),
      .caliber_hash = caliber_hash(run.header.caliber),
      .run_void = {},
      .nothing = run.cells.empty() ? word("page.no_cells") : Text{},
      .sections = experiment_sections(analysis),
      .warnings = warnings(analysis),
      .void_cells = void_cells(analysis),
      .failures = failures(analysis),
      .not_measured = not_measured(analysis),
  };
  for (const Finding* finding : analysis.voiding_run()) {
    document.run_void.push_back(word_or_name("fault", to_word(finding->fault)) +
                                same(" (" + shown(finding->detail) + ")"));
  }
  Section telemetry = telemetry_section(run);
  if (!telemetry.tables.empty()) document.sections.push_back(std::move(telemetry));
  return document;
}

}  // namespace evener::bench
