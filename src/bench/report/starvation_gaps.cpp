#include <algorithm>
#include <array>
#include <optional>

#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/table_builder.h"
#include "bench/report/table_specs.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr Nanoseconds kLong = std::chrono::seconds(1);
constexpr size_t kRowsMax = 60;
constexpr size_t kLongestShown = 5;

struct Gap {
  const CellRecord* cell;
  Nanoseconds at;  // since the victim's first token
  Nanoseconds length;
  bool during_attack;
};

bool overlaps(Nanoseconds begin, Nanoseconds end, const RequestRecord& attacker) {
  const Nanoseconds attack_end =
      attacker.events.empty() ? attacker.ended : attacker.events.front().at;
  return begin < attack_end && end > attacker.sent;
}

std::vector<Gap> gaps_of(const Analysis& analysis, const CellRecord& cell) {
  std::vector<Gap> gaps;
  const CellRequests& requests = analysis.requests_of(cell);
  for (const RequestRecord* victim : requests) {
    if (!is_victim(victim->label)) continue;
    const std::vector<OutputEvent>& events = victim->events;
    for (size_t i = 1; i < events.size(); ++i) {
      const Nanoseconds begin = events[i - 1].at;
      const bool attacked =
          std::any_of(requests.begin(), requests.end(), [&](const RequestRecord* request) {
            return is_attacker(request->label) && overlaps(begin, events[i].at, *request);
          });
      gaps.push_back({&cell, begin - events[0].at, events[i].at - begin, attacked});
    }
  }
  return gaps;
}

double milliseconds(Nanoseconds time) { return double(time.count()) / 1e6; }

Text expected_remark(const Analysis& analysis, const Point& point) {
  const CellFigures all = analysis.figures(point);
  const CellFigures of_victim = analysis.figures(point, is_victim);
  const auto expected = all.find("num_gaps_expected");
  const auto seen = of_victim.find("num_gaps_over_1s");
  if (expected == all.end() || seen == of_victim.end()) return {};
  const auto target = point.target.find("num_tokens_attacker");
  const Text name = target == point.target.end()
                        ? Text{}
                        : target_value(target->first, target->second) + Text{": ", "："};
  return name + fill(word("starvation.expected"), {same(quantity(expected->second.p50, "")),
                                                   same(quantity(seen->second.p50, ""))});
}

// The victims' answer in the last cell, from left to right.
void add_spark(const std::vector<Gap>& gaps, Section& section) {
  Spark spark{.label = word("metric.event_gap_ms"), .values = {}, .unit = "ms"};
  for (const Gap& gap : gaps) {
    if (gap.cell == gaps.back().cell) spark.values.push_back(milliseconds(gap.length));
  }
  section.sparks.push_back(std::move(spark));
}

}  // namespace

void add_starvation_gaps(const Analysis& analysis, Section& section) {
  std::vector<Gap> gaps;
  for (const Point* point : analysis.points_of("starvation")) {
    for (const CellRecord* cell : point->complete) {
      const std::vector<Gap> here = gaps_of(analysis, *cell);
      gaps.insert(gaps.end(), here.begin(), here.end());
    }
    Text remark = expected_remark(analysis, *point);
    if (!remark.empty()) section.remarks.push_back(std::move(remark));
  }
  if (gaps.empty()) return;
  add_spark(gaps, section);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.length > b.length; });
  const auto num_long = size_t(
      std::count_if(gaps.begin(), gaps.end(), [](const Gap& gap) { return gap.length > kLong; }));
  const size_t num_shown =
      std::min(num_long == 0 ? kLongestShown : std::min(num_long, kRowsMax), gaps.size());

  TableBuilder builder("gaps",
                       num_long == 0 ? word("starvation.longest") : word("starvation.gaps"));
  builder.key_column(word("column.cell"));
  builder.number_column(word("column.at"), "s");
  builder.number_column(word("column.gap"), "ms");
  builder.text_column(word("column.during_attack"));
  for (const Gap& gap : std::span(gaps).first(num_shown)) {
    builder.row();
    builder.text(cell_and_round(*gap.cell));
    builder.number(milliseconds(gap.at) / 1e3);
    builder.number(milliseconds(gap.length));
    builder.text(gap.during_attack ? word("word.yes") : word("word.no"));
  }
  Table table = builder.finish();
  if (num_long > num_shown) {
    table.note = fill(word("page.more_rows"), {same(std::to_string(num_long - num_shown))});
  }
  section.tables.push_back(std::move(table));
}

}  // namespace evener::bench
