#include <algorithm>
#include <set>

#include "bench/report/document.h"
#include "bench/report/goodput_columns.h"
#include "bench/report/numbers.h"
#include "bench/report/table_builder.h"
#include "bench/report/table_specs.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr size_t kValueColumnsMax = 6;  // more values get a table of their own
constexpr size_t kValueRowsMax = 400;

using Points = std::vector<const Point*>;

Text column_title(const ColumnSpec& column) {
  const bool is_metric = find_metric(column.key) != nullptr;
  const Text title = is_metric ? word_or_name("metric", column.key) : value_title(column.key);
  switch (column.statistic) {
    case Statistic::p95:
      return title + same(" ") + word("statistic.p95");
    case Statistic::max:
      return column.key == "gap_max_ms" || column.key == "num_gaps_over_1s" || !is_metric
                 ? title
                 : title + same(" ") + word("statistic.max");
    case Statistic::mean:
    case Statistic::median:
      break;
  }
  return title;
}

std::vector<std::string> target_keys(const Points& points, const TableSpec* spec) {
  std::set<std::string> seen;
  for (const Point* point : points) {
    for (const auto& [key, value] : point->target) seen.insert(key);
  }
  std::vector<std::string> keys;
  if (spec != nullptr) {
    for (const std::string_view key : spec->keys) {
      if (seen.erase(std::string(key)) != 0) keys.emplace_back(key);
    }
  }
  keys.insert(keys.end(), seen.begin(), seen.end());
  return keys;
}

// Keys and units of the values that no column of `spec` shows, in order of their first appearance.
std::vector<std::pair<std::string, std::string>> further_values(const Analysis& analysis,
                                                                const Points& points,
                                                                const TableSpec* spec) {
  std::vector<std::pair<std::string, std::string>> found;
  // What has columns of its own, worked out from the records.
  std::set<std::string> seen = {"energy_j", "goodput_requests_per_s", "good_share"};
  if (spec != nullptr) {
    for (const ColumnSpec& column : spec->columns) seen.emplace(column.key);
  }
  for (const Point* point : points) {
    for (const CellRecord* cell : point->complete) {
      for (const Value& value : analysis.values_of(*cell)) {
        if (seen.insert(value.key).second) found.emplace_back(value.key, value.unit);
      }
    }
  }
  return found;
}

std::string unit_of_value(const Analysis& analysis, const Points& points, std::string_view key) {
  for (const Point* point : points) {
    for (const CellRecord* cell : point->complete) {
      for (const Value& value : analysis.values_of(*cell)) {
        if (value.key == key) return std::string(unit_of(key, value.unit));
      }
    }
  }
  return {};
}

RowMark mark_of(const Point& point) {
  if (point.complete.empty()) return RowMark::no_result;
  return point.incomplete.empty() ? RowMark::none : RowMark::fewer_rounds;
}

Text rounds_of(const Point& point) {
  const size_t all = point.complete.size() + point.incomplete.size();
  return same(std::to_string(point.complete.size()) +
              (point.incomplete.empty() ? "" : "/" + std::to_string(all)));
}

bool is_summary(const Point& point) { return point.target.contains("summary"); }

// A summary is about the experiment as a whole: its values are no row of the results.
Points points_of_results(const Analysis& analysis, std::string_view experiment) {
  Points points = analysis.points_of(experiment);
  std::erase_if(points, [](const Point* point) { return is_summary(*point); });
  return points;
}

// Rows of the results of one experiment.
class ResultTable {
 public:
  ResultTable(const Analysis& analysis, std::string_view experiment)
      : analysis_(analysis),
        points_(points_of_results(analysis, experiment)),
        spec_(find_table_spec(experiment)),
        keys_(target_keys(points_, spec_)),
        values_(further_values(analysis, points_, spec_)),
        builder_("results-" + shown(experiment, 60)) {
    if (values_.size() > kValueColumnsMax) values_.clear();  // see value_table()
    std::stable_sort(points_.begin(), points_.end(),
                     [this](const Point* a, const Point* b) { return less(*a, *b); });
  }

  Table make() {
    const Text of_all = take_out_common_keys();
    add_columns();
    for (const Point* point : points_) add_row(*point);
    Table table = builder_.finish();
    if (!of_all.empty()) table.note = fill(word("page.of_all_rows"), {of_all});
    return table;
  }

 private:
  // What is the same in all rows needs no column, but for the first key. In words.
  Text take_out_common_keys() {
    if (points_.size() < 2) return {};
    std::map<std::string, std::string> common;
    for (size_t i = keys_.size(); i-- > 1;) {
      const auto first = points_.front()->target.find(keys_[i]);
      if (first == points_.front()->target.end()) continue;
      const bool is_common = std::all_of(points_.begin(), points_.end(), [&](const Point* point) {
        const auto found = point->target.find(keys_[i]);
        return found != point->target.end() && found->second == first->second;
      });
      if (!is_common) continue;
      common.insert(*first);
      keys_.erase(keys_.begin() + ptrdiff_t(i));
    }
    return point_name(common);
  }

  bool less(const Point& a, const Point& b) const {
    for (const std::string& key : keys_) {
      const auto x = a.target.find(key);
      const auto y = b.target.find(key);
      const std::string_view left = x == a.target.end() ? "" : std::string_view(x->second);
      const std::string_view right = y == b.target.end() ? "" : std::string_view(y->second);
      if (left != right) return less_as_numbers(left, right);
    }
    return false;
  }

  void add_columns() {
    for (const std::string& key : keys_) builder_.key_column(word_or_name("target", key));
    if (spec_ != nullptr) {
      for (const ColumnSpec& column : spec_->columns) {
        const Metric* metric = find_metric(column.key);
        builder_.number_column(column_title(column),
                               metric != nullptr ? std::string(unit_of(column.key, metric->unit))
                                                 : unit_of_value(analysis_, points_, column.key),
                               metric != nullptr ? std::string(metric->formula) : std::string());
      }
      if (spec_->experiment == "load") add_goodput_columns(builder_);
    }
    for (const auto& [key, unit] : values_) {
      builder_.number_column(value_title(key), shown(unit_of(key, unit), 20));
    }
    builder_.text_column(word("column.rounds"));
  }

  void add_row(const Point& point) {
    builder_.row(mark_of(point));
    for (const std::string& key : keys_) {
      const auto found = point.target.find(key);
      builder_.text(found == point.target.end() ? Text{} : target_value(key, found->second));
    }
    if (point.complete.empty()) return add_missing(point);
    const CellFigures all = analysis_.figures(point);
    if (spec_ != nullptr) {
      for (const ColumnSpec& column : spec_->columns) {
        if (column.keep == nullptr) {
          add_figure(all, column.key, column.statistic);
        } else {
          add_figure(analysis_.figures(point, column.keep), column.key, column.statistic);
        }
      }
      if (spec_->experiment == "load") add_goodput(builder_, analysis_, point);
    }
    for (const auto& [key, unit] : values_) add_figure(all, key, Statistic::median);
    builder_.text(rounds_of(point));
  }

  // A hole in the table says why it is one.
  void add_missing(const Point& point) {
    const bool is_void = std::any_of(
        point.incomplete.begin(), point.incomplete.end(),
        [this](const CellRecord* cell) { return analysis_.state_of(*cell) == CellState::voided; });
    builder_.text(is_void ? word("state.voided") : word("state.partial"));
    while (builder_.num_left() > 1) builder_.nothing();
    if (builder_.num_left() == 1) builder_.text(rounds_of(point));
  }

  void add_figure(const CellFigures& figures, std::string_view key, Statistic statistic) {
    const Summary* summary = find_figure(figures, key);
    if (summary == nullptr) return builder_.nothing();
    builder_.number(pick(*summary, statistic),
                    statistic == Statistic::median ? summary->ci95 : std::nullopt);
  }

  const Analysis& analysis_;
  Points points_;
  const TableSpec* spec_;
  std::vector<std::string> keys_;
  std::vector<std::pair<std::string, std::string>> values_;
  TableBuilder builder_;
};

// One row a value: those of summaries, and of experiments that record many.
Table value_table(const Analysis& analysis, std::string_view experiment) {
  const Points points = analysis.points_of(experiment);
  const auto values = further_values(analysis, points, find_table_spec(experiment));
  TableBuilder builder("values-" + shown(experiment, 60), word("values.title"));
  builder.key_column(word("column.cell"));
  builder.key_column(word("column.figure"));
  builder.text_column(word("column.median"));
  builder.text_column(word("column.min"));
  builder.text_column(word("column.max"));
  builder.number_column(word("column.requests"), "");
  const size_t num_of_results =
      further_values(analysis, points_of_results(analysis, experiment), find_table_spec(experiment))
          .size();
  size_t num_rows = 0;
  for (const Point* point : points) {
    if (point->complete.empty()) continue;
    if (!is_summary(*point) && num_of_results <= kValueColumnsMax) continue;
    const CellFigures figures = analysis.figures(*point);
    for (const auto& [key, unit] : values) {
      const Summary* summary = find_figure(figures, key);
      if (summary == nullptr || ++num_rows > kValueRowsMax) continue;
      builder.row();
      builder.text(cell_name(
          CellRecord{.key = {}, .experiment = point->experiment, .target = point->target}));
      builder.text(value_title(key));
      const std::string shown_unit = shown(unit_of(key, unit), 20);
      for (const double value : {summary->p50, summary->min, summary->max}) {
        builder.text(same(quantity(value, shown_unit)));
      }
      builder.number(double(summary->n));
    }
  }
  return builder.finish();
}

void add_sparks(const Analysis& analysis, Section& section, std::string_view experiment) {
  const TableSpec* spec = find_table_spec(experiment);
  if (spec == nullptr) return;
  for (const ColumnSpec& column : spec->columns.first(std::min<size_t>(4, spec->columns.size()))) {
    const Metric* metric = find_metric(column.key);
    Spark spark{
        .label = column_title(column),
        .values = {},
        .unit = metric == nullptr ? std::string() : std::string(unit_of(column.key, metric->unit))};
    for (const Point* point : points_of_results(analysis, experiment)) {
      const CellFigures figures = analysis.figures(*point, column.keep);
      const Summary* summary = find_figure(figures, column.key);
      if (summary != nullptr) spark.values.push_back(pick(*summary, column.statistic));
    }
    if (spark.values.size() >= 3) section.sparks.push_back(std::move(spark));
  }
}

Text lead_of(std::string_view experiment) {
  const std::string key = "lead." + std::string(experiment);
  const Word* found = find_word(key);
  return found == nullptr ? word("lead.other")
                          : Text{std::string(found->english), std::string(found->chinese)};
}

}  // namespace

Section experiment_section(const Analysis& analysis, std::string_view experiment) {
  Section section{.id = shown(experiment, 60),
                  .title = word_or_name("experiment", experiment),
                  .lead = lead_of(experiment)};
  if (!points_of_results(analysis, experiment).empty()) {
    section.tables.push_back(ResultTable(analysis, experiment).make());
  }
  Table values = value_table(analysis, experiment);
  if (!values.rows.empty()) section.tables.push_back(std::move(values));
  add_sparks(analysis, section, experiment);
  if (experiment == "load") section.remarks.push_back(goodput_limits_remark(analysis.run()));
  if (experiment == "starvation") add_starvation_gaps(analysis, section);
  if (experiment == "coldstart") add_phases(analysis, section);
  return section;
}

std::vector<Section> experiment_sections(const Analysis& analysis) {
  std::vector<Section> sections;
  for (const std::string_view experiment : analysis.experiments()) {
    sections.push_back(experiment_section(analysis, experiment));
  }
  return sections;
}

}  // namespace evener::bench
