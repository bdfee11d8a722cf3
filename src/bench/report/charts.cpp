#include "bench/report/charts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/report/document.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

using Json = json::Value;

Json text_json(const Text& text) { return {{"en", text.english}, {"zh", text.chinese}}; }

// Six digits are more than a picture shows.
Json numbers_json(const std::vector<double>& numbers) {
  Json out = Json::array();
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      out.push_back(nullptr);
      continue;
    }
    const double size = number == 0 ? 0 : std::floor(std::log10(std::abs(number)));
    const double unit = std::pow(10.0, 6 - std::clamp(size, -12.0, 15.0));
    out.push_back(std::round(number * unit) / unit);
  }
  return out;
}

Json axis_json(const ChartAxis& axis) {
  return {{"label", text_json(axis.label)},
          {"unit", axis.unit},
          {"log", axis.scale == AxisScale::logarithmic}};
}

Json series_json(const ChartSeries& series) {
  Json out = {{"name", text_json(series.name)},
              {"x", numbers_json(series.x)},
              {"y", numbers_json(series.y)},
              {"steps", series.style == ChartSeries::Style::steps}};
  if (!series.low.empty()) {
    out["low"] = numbers_json(series.low);
    out["high"] = numbers_json(series.high);
  }
  return out;
}

// Targets other than the one on the x axis: what tells series apart.
Text name_of_rest(const Point& point, const std::string& x_key, const Text& name) {
  Text rest;
  for (const auto& [key, value] : point.target) {
    if (key == x_key) continue;
    if (!rest.empty()) rest = rest + Text{", ", "，"};
    rest = rest + target_value(key, value);
  }
  if (rest.empty()) return name;
  return name.empty() ? rest : name + same(" · ") + rest;
}

}  // namespace

std::vector<ChartSeries> series_of(const Analysis& analysis, std::string_view experiment,
                                   const std::string& x_key, std::string_view figure,
                                   const Text& name) {
  std::vector<ChartSeries> all;
  std::map<std::string, size_t> place;
  std::vector<const Point*> points = analysis.points_of(experiment);
  std::erase_if(points, [&](const Point* point) { return !target_number(*point, x_key); });
  std::stable_sort(points.begin(), points.end(), [&](const Point* a, const Point* b) {
    return *target_number(*a, x_key) < *target_number(*b, x_key);
  });
  for (const Point* point : points) {
    const CellFigures figures = analysis.figures(*point);
    const Summary* summary = find_figure(figures, figure);
    if (!summary) continue;
    const Text full_name = name_of_rest(*point, x_key, name);
    const auto [at, is_first] = place.emplace(full_name.english, all.size());
    if (is_first) all.push_back({.name = full_name, .x = {}, .y = {}, .low = {}, .high = {}});
    ChartSeries& series = all[at->second];
    const double x = *target_number(*point, x_key);
    if (!series.x.empty() && series.x.back() == x) continue;  // the same number written otherwise
    series.x.push_back(x);
    series.y.push_back(summary->p50);
    series.low.push_back(summary->ci95 ? summary->ci95->low : summary->p50);
    series.high.push_back(summary->ci95 ? summary->ci95->high : summary->p50);
  }
  return all;
}

std::vector<Chart> charts(const Analysis& analysis) {
  std::vector<Chart> all;
  add_length_charts(analysis, all);
  add_load_charts(analysis, all);
  add_timeline_charts(analysis, all);
  add_distribution_charts(analysis, all);
  add_time_charts(analysis, all);
  std::erase_if(all, [](const Chart& chart) { return chart.series.empty(); });
  return all;
}

json::Value charts_json(const std::vector<Chart>& charts) {
  Json all = Json::array();
  for (const Chart& chart : charts) {
    Json series = Json::array();
    for (const ChartSeries& each : chart.series) series.push_back(series_json(each));
    Json shades = Json::array();
    for (const ChartShade& shade : chart.shades) {
      shades.push_back({{"from", shade.from}, {"to", shade.to}, {"name", text_json(shade.name)}});
    }
    all.push_back({{"id", chart.id},
                   {"title", text_json(chart.title)},
                   {"x", axis_json(chart.x)},
                   {"y", axis_json(chart.y)},
                   {"series", series},
                   {"shades", shades},
                   {"shadeName", text_json(chart.shade_name)},
                   {"marks", numbers_json(chart.marks)},
                   {"markName", text_json(chart.mark_name)}});
  }
  return all;
}

}  // namespace evener::bench
