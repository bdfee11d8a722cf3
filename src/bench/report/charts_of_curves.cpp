// Curves over the points of an experiment, and how requests are distributed in one.
#include <algorithm>

#include "bench/report/charts.h"
#include "bench/report/document.h"
#include "bench/report/goodput_columns.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

using enum AxisScale;

constexpr size_t kCurvePointsMax = 200;
constexpr size_t kCurvesMax = 6;
constexpr size_t kSamplesMin = 5;

void append(std::vector<ChartSeries>& all, std::vector<ChartSeries> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

ChartAxis length_axis() { return {word("axis.length"), "", logarithmic}; }

// Through the places in order of x, of equal ones the first.
ChartSeries series_through(Text name, std::vector<std::pair<double, double>> places) {
  ChartSeries series{.name = std::move(name), .x = {}, .y = {}, .low = {}, .high = {}};
  std::sort(places.begin(), places.end());
  for (const auto& [x, y] : places) {
    if (!series.x.empty() && series.x.back() == x) continue;
    series.x.push_back(x);
    series.y.push_back(y);
  }
  return series;
}

// Throughput and TTFT p95 of each point, in the order of its load.
ChartSeries frontier(const Analysis& analysis, std::string_view experiment) {
  std::vector<std::pair<double, double>> places;
  for (const Point* point : analysis.points_of(experiment)) {
    const CellFigures figures = analysis.figures(*point);
    const Summary* ttft = find_figure(figures, "ttft_ms");
    const Summary* rate = find_figure(figures, "output_tokens_per_s");
    if (ttft && rate) places.emplace_back(ttft->p95, rate->p50);
  }
  return series_through(word_or_name("experiment", experiment), std::move(places));
}

Chart frontier_chart(const Analysis& analysis) {
  Chart chart{.id = "frontier",
              .section = analysis.points_of("concurrency").empty() ? "load" : "concurrency",
              .title = word("chart.frontier"),
              .x = {fill(same("{0} p95"), {word("metric.ttft_ms")}), "ms", logarithmic},
              .y = {word("metric.output_tokens_per_s"), "tok/s"}};
  for (const std::string_view experiment : {"concurrency", "load"}) {
    ChartSeries series = frontier(analysis, experiment);
    if (series.x.size() >= 2) chart.series.push_back(std::move(series));
  }
  return chart;
}

ChartSeries goodput_series(const Analysis& analysis) {
  std::vector<std::pair<double, double>> places;
  for (const Point* point : analysis.points_of("load")) {
    const std::optional<double> rate = target_number(*point, "requests_per_s");
    const std::optional<PointGoodput> good = point_goodput(analysis, *point);
    if (rate && good) places.emplace_back(*rate, good->requests_per_s.p50);
  }
  return series_through(word("column.goodput"), std::move(places));
}

// Share of samples that are at most x.
ChartSeries distribution(Text name, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  ChartSeries series{.name = std::move(name),
                     .x = {},
                     .y = {},
                     .low = {},
                     .high = {},
                     .style = ChartSeries::Style::steps};
  const size_t num = std::min(samples.size(), kCurvePointsMax);
  for (size_t i = 0; i < num; ++i) {
    const size_t rank = num == 1 ? 0 : i * (samples.size() - 1) / (num - 1);
    const double x = std::max(samples[rank], 1e-3);  // zero has no place on a logarithmic axis
    const double y = double(rank + 1) / double(samples.size());
    if (!series.x.empty() && series.x.back() == x) {
      series.y.back() = y;
      continue;
    }
    series.x.push_back(x);
    series.y.push_back(y);
  }
  return series;
}

using SamplesOf = void (*)(const RequestRecord& request, std::vector<double>& samples);

void ttft_of(const RequestRecord& request, std::vector<double>& samples) {
  const auto figures = request_figures(request);
  const auto found = figures.find("ttft_ms");
  if (found != figures.end()) samples.push_back(found->second);
}

void gaps_of(const RequestRecord& request, std::vector<double>& samples) {
  const std::vector<double> gaps = event_gaps_ms(request);
  samples.insert(samples.end(), gaps.begin(), gaps.end());
}

// At most kCurvesMax points of each experiment, spread over all of them.
std::vector<ChartSeries> distributions(const Analysis& analysis, std::string_view experiment,
                                       SamplesOf samples_of) {
  std::vector<ChartSeries> all;
  for (const Point* point : analysis.points_of(experiment)) {
    std::vector<double> samples;
    for (const CellRecord* cell : point->complete) {
      for (const RequestRecord* request : analysis.requests_of(*cell)) {
        if (is_sample(*request)) samples_of(*request, samples);
      }
    }
    if (samples.size() < kSamplesMin) continue;
    all.push_back(distribution(point_name(point->target), std::move(samples)));
  }
  if (all.size() <= kCurvesMax) return all;
  std::vector<ChartSeries> chosen;
  for (size_t i = 0; i < kCurvesMax; ++i) {
    chosen.push_back(std::move(all[i * (all.size() - 1) / (kCurvesMax - 1)]));
  }
  return chosen;
}

// One for each experiment that has such samples.
struct DistributionCharts {
  std::string_view id;  // in front of the experiment's name
  Text title;
  Text metric;
  SamplesOf samples_of;
  std::vector<std::string_view> experiments;
};

void add_distributions(const Analysis& analysis, const DistributionCharts& wanted,
                       std::vector<Chart>& charts) {
  for (const std::string_view experiment : wanted.experiments) {
    const std::string section(experiment);
    charts.push_back({.id = std::string(wanted.id) + section,
                      .section = section,
                      .title = wanted.title,
                      .x = {wanted.metric, "ms", logarithmic},
                      .y = {word("axis.share"), "share"},
                      .series = distributions(analysis, experiment, wanted.samples_of)});
  }
}

}  // namespace

void add_length_charts(const Analysis& analysis, std::vector<Chart>& charts) {
  const auto series = [&](std::string_view figure, const Text& name) {
    return series_of(analysis, "sweep", "num_tokens_in", figure, name);
  };
  const Text ttft = word("metric.ttft_ms");
  const Text prefill = word("metric.prefill_tokens_per_s");
  charts.push_back({.id = "ttft-length",
                    .section = "sweep",
                    .title = word("chart.ttft_length"),
                    .x = length_axis(),
                    .y = {ttft, "ms", logarithmic},
                    .series = series("ttft_ms", ttft)});
  charts.push_back({.id = "prefill-length",
                    .section = "sweep",
                    .title = word("chart.prefill_length"),
                    .x = length_axis(),
                    .y = {prefill, "tok/s"},
                    .series = series("prefill_tokens_per_s", prefill)});
  Chart decode{.id = "decode-length",
               .section = "sweep",
               .title = word("chart.decode_length"),
               .x = length_axis(),
               .y = {same(""), "tok/s"}};
  append(decode.series,
         series("decode_whole_tokens_per_s", word("metric.decode_whole_tokens_per_s")));
  append(decode.series,
         series("decode_steady_tokens_per_s", word("metric.decode_steady_tokens_per_s")));
  charts.push_back(std::move(decode));
  const Text ttft_name = word("metric.ttft_ms");
  charts.push_back({.id = "turns",
                    .section = "prefix",
                    .title = word("chart.turns"),
                    .x = {word("axis.turn"), ""},
                    .y = {ttft_name, "ms"},
                    .series = series_of(analysis, "prefix", "turn", "ttft_ms", {})});
  const Text bandwidth = word("value.bandwidth");
  charts.push_back({.id = "links",
                    .section = "link",
                    .title = word("chart.links"),
                    .x = {word("axis.size"), "B", logarithmic},
                    .y = {bandwidth, "GB/s"},
                    .series = series_of(analysis, "link", "size_bytes", "bandwidth", {})});
}

void add_load_charts(const Analysis& analysis, std::vector<Chart>& charts) {
  Chart total{.id = "concurrency-total",
              .section = "concurrency",
              .title = word("chart.concurrency"),
              .x = {word("axis.users"), ""},
              .y = {word("metric.output_tokens_per_s"), "tok/s"}};
  append(total.series, series_of(analysis, "concurrency", "num_users", "output_tokens_per_s",
                                 word("metric.output_tokens_per_s")));
  append(total.series,
         series_of(analysis, "concurrency", "num_users", "output_plateau_tokens_per_s",
                   word("metric.output_plateau_tokens_per_s")));
  charts.push_back(std::move(total));
  const Text decode = word("metric.decode_whole_tokens_per_s");
  charts.push_back({.id = "concurrency-stream",
                    .section = "concurrency",
                    .title = word("chart.stream"),
                    .x = {word("axis.users"), ""},
                    .y = {decode, "tok/s"},
                    .series = series_of(analysis, "concurrency", "num_users",
                                        "decode_whole_tokens_per_s", decode)});
  charts.push_back(frontier_chart(analysis));
  Chart served{.id = "goodput",
               .section = "load",
               .title = word("chart.goodput"),
               .x = {word("axis.rate"), "req/s"},
               .y = {word("axis.served"), "req/s"},
               .series = series_of(analysis, "load", "requests_per_s", "requests_per_s",
                                   word("axis.served"))};
  ChartSeries good = goodput_series(analysis);
  if (!good.x.empty()) served.series.push_back(std::move(good));
  charts.push_back(std::move(served));
}

void add_distribution_charts(const Analysis& analysis, std::vector<Chart>& charts) {
  add_distributions(analysis,
                    {.id = "ttft-cdf-",
                     .title = word("chart.ttft_cdf"),
                     .metric = word("metric.ttft_ms"),
                     .samples_of = ttft_of,
                     .experiments = {"concurrency", "load", "prefix"}},
                    charts);
  add_distributions(analysis,
                    {.id = "gap-cdf-",
                     .title = word("chart.gap_cdf"),
                     .metric = word("metric.event_gap_ms"),
                     .samples_of = gaps_of,
                     .experiments = {"sweep", "concurrency", "load", "starvation", "spec", "soak"}},
                    charts);
}

}  // namespace evener::bench
