#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/table_builder.h"
#include "bench/report/table_specs.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr Nanoseconds kLong = std::chrono::seconds(1);
constexpr size_t kGapsMax = 200;
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

Text expected_remark(const Analysis& analysis, const Point& point) {
  const CellFigures figures = analysis.figures(point);
  const auto expected = figures.find("num_gaps_expected");
  const auto length = figures.find("gap_expected_ms");
  const auto seen = figures.find("num_gaps_observed");
  if (expected == figures.end() || length == figures.end() || seen == figures.end()) return {};
  return point_name(point.target) + Text{": ", "："} +
         fill(word("starvation.expected"),
              {same(quantity(expected->second.p50, "")), same(quantity(length->second.p50, "ms")),
               same(quantity(seen->second.p50, ""))});
}

// The victims' answer in the last cell, from left to right.
void add_spark(const std::vector<Gap>& gaps, Section& section) {
  Spark spark{.label = word("metric.event_gap_ms"), .values = {}, .unit = "ms"};
  for (const Gap& gap : gaps) {
    if (gap.cell == gaps.back().cell) spark.values.push_back(in_ms(gap.length));
  }
  section.sparks.push_back(std::move(spark));
}

bool is_long(const Gap& gap) { return gap.length > kLong; }

// The gaps of one cell: those over a second in order of their time, or the longest few.
void add_row(std::span<const Gap> gaps, bool only_long, TableBuilder& builder) {
  std::vector<Gap> listed(gaps.begin(), gaps.end());
  if (only_long) {
    std::erase_if(listed, [](const Gap& gap) { return !is_long(gap); });
  } else {
    std::stable_sort(listed.begin(), listed.end(),
                     [](const Gap& a, const Gap& b) { return a.length > b.length; });
    listed.resize(std::min(listed.size(), kLongestShown));
  }
  std::string list;
  for (const Gap& gap : std::span(listed).first(std::min(listed.size(), kGapsMax))) {
    list += list.empty() ? "" : ", ";
    list += fmt::format("{:.2f} @ {:.1f}", in_ms(gap.length) / 1e3, in_ms(gap.at) / 1e3);
  }
  if (listed.size() > kGapsMax) list += ", ...";
  builder.row();
  builder.text(cell_and_round(*gaps.front().cell));
  builder.number(double(std::count_if(gaps.begin(), gaps.end(), is_long)));
  builder.number(double(std::count_if(gaps.begin(), gaps.end(), [](const Gap& gap) {
    return is_long(gap) && !gap.during_attack;
  })));
  builder.text(same(list));
}

}  // namespace

void add_starvation_gaps(const Analysis& analysis, Section& section) {
  std::vector<Gap> all;
  for (const Point* point : analysis.points_of("starvation")) {
    for (const CellRecord* cell : point->complete) {
      const std::vector<Gap> here = gaps_of(analysis, *cell);
      all.insert(all.end(), here.begin(), here.end());
    }
    Text remark = expected_remark(analysis, *point);
    if (!remark.empty()) section.remarks.push_back(std::move(remark));
  }
  if (all.empty()) return;
  add_spark(all, section);
  const bool any_long = std::any_of(all.begin(), all.end(), is_long);
  TableBuilder builder("gaps", any_long ? word("starvation.gaps") : word("starvation.longest"));
  builder.key_column(word("column.cell"));
  builder.number_column(word("metric.num_gaps_over_1s"), "");
  builder.number_column(word("column.outside_attack"), "");
  builder.text_column(word("column.gap_list"));
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end =
        std::find_if(begin, all.end(), [&](const Gap& gap) { return gap.cell != begin->cell; });
    add_row(std::span<const Gap>(begin, end), any_long, builder);
    begin = end;
  }
  section.tables.push_back(builder.finish());
}

}  // namespace evener::bench
