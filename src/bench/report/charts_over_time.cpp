// Things over time: the victim of a starvation, the sensors, the server's memory.
#include <algorithm>
#include <array>
#include <cmath>

#include "bench/report/charts.h"
#include "bench/report/document.h"
#include "bench/report/sensors.h"
#include "bench/report/table_specs.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr size_t kPlacesMax = 1500;
constexpr size_t kTimelinesMax = 6;
constexpr double kMarksMax = 400;

// At most kPlacesMax places; the smallest and the largest of each stretch stay.
void thin_out(ChartSeries& series) {
  const size_t num = series.x.size();
  if (num <= kPlacesMax) return;
  std::vector<double> x;
  std::vector<double> y;
  const size_t num_stretches = kPlacesMax / 2;
  for (size_t i = 0; i < num_stretches; ++i) {
    const auto begin = series.y.begin() + ptrdiff_t(num * i / num_stretches);
    const auto end = series.y.begin() + ptrdiff_t(num * (i + 1) / num_stretches);
    const auto low = std::min_element(begin, end) - series.y.begin();
    const auto high = std::max_element(begin, end) - series.y.begin();
    for (const auto place : {std::min(low, high), std::max(low, high)}) {
      if (!x.empty() && x.back() == series.x[size_t(place)]) continue;
      x.push_back(series.x[size_t(place)]);
      y.push_back(series.y[size_t(place)]);
    }
  }
  series.x = std::move(x);
  series.y = std::move(y);
}

// Tokens that have come; events count where the server does not say how many are in them.
ChartSeries token_steps(const RequestRecord& victim, const Text& name) {
  ChartSeries series{
      .name = name, .x = {}, .y = {}, .low = {}, .high = {}, .style = ChartSeries::Style::steps};
  double num_tokens = 0;
  const Nanoseconds first = victim.events.front().at;
  const std::vector<uint32_t> tokens = tokens_of_events(victim);
  for (size_t i = 0; i < victim.events.size(); ++i) {
    const OutputEvent& event = victim.events[i];
    num_tokens += tokens.empty() ? 1 : tokens[i];
    const double x = in_s(event.at - first);
    if (!series.x.empty() && series.x.back() == x) {
      series.y.back() = num_tokens;
      continue;
    }
    series.x.push_back(x);
    series.y.push_back(num_tokens);
  }
  thin_out(series);
  return series;
}

std::optional<double> value_of(const Analysis& analysis, const CellRecord& cell,
                               std::string_view key) {
  for (const Value& value : analysis.values_of(cell)) {
    if (value.key == key) return value.value;
  }
  return std::nullopt;
}

void add_attack(const Analysis& analysis, const CellRecord& cell, const RequestRecord& attacker,
                Nanoseconds zero, Chart& chart) {
  const Nanoseconds end = attacker.events.empty() ? attacker.ended : attacker.events.front().at;
  const double from = in_s(attacker.sent - zero);
  const double to = in_s(end - zero);
  if (!(to > from)) return;
  chart.shades.push_back({from, to, same(shown(attacker.label, 60))});
  chart.shade_name = word("mark.attacker");
  const std::optional<double> chunk = value_of(analysis, cell, "chunk_tokens");
  const double num_tokens = double(attacker.num_tokens_in.value_or(attacker.num_tokens_in_wanted));
  if (!chunk || *chunk < 1 || num_tokens < 1) return;
  const double num_chunks = std::ceil(num_tokens / *chunk);
  if (num_chunks > kMarksMax) return;
  for (double i = 1; i < num_chunks; ++i) {
    chart.marks.push_back(from + (to - from) * i / num_chunks);
  }
  chart.mark_name = word("mark.chunks");
}

std::optional<Chart> timeline(const Analysis& analysis, const Point& point, size_t number) {
  if (point.complete.empty()) return std::nullopt;
  const CellRecord& cell = *point.complete.front();
  const auto target = point.target.find("num_tokens_attacker");
  const Text tokens =
      target == point.target.end() ? same("?") : target_value(target->first, target->second);
  Chart chart{.id = "timeline-" + std::to_string(number),
              .section = "starvation",
              .title = fill(word("chart.timeline"), {tokens}),
              .x = {word("axis.victim_time"), "s"},
              .y = {word("axis.tokens"), ""}};
  std::optional<Nanoseconds> zero;
  for (const RequestRecord* request : analysis.requests_of(cell)) {
    if (!is_victim(request->label) || request->events.empty()) continue;
    if (!zero) zero = request->events.front().at;
    chart.series.push_back(token_steps(*request, same(shown(request->label, 60))));
  }
  if (!zero) return std::nullopt;
  for (const RequestRecord* request : analysis.requests_of(cell)) {
    if (is_attacker(request->label)) add_attack(analysis, cell, *request, *zero, chart);
  }
  std::sort(chart.marks.begin(), chart.marks.end());
  return chart;
}

ChartSeries sensor_series(const Text& name, const std::vector<SensorReading>& readings) {
  ChartSeries series{.name = name, .x = {}, .y = {}, .low = {}, .high = {}};
  for (const SensorReading& reading : readings) {
    const double x = in_s(reading.at);
    if (!series.x.empty() && series.x.back() >= x) continue;
    series.x.push_back(x);
    series.y.push_back(reading.value);
  }
  thin_out(series);
  return series;
}

void add_cells(const Run& run, Chart& chart) {
  for (const CellRecord& cell : run.cells) {
    chart.shades.push_back(
        {in_s(cell.began), in_s(cell.ended), word_or_name("experiment", cell.experiment)});
  }
  chart.shade_name = word("mark.cells");
}

struct SensorChart {
  std::string_view id;
  WordKey title;
  std::string_view unit;
};

Chart sensor_chart(const Run& run, const SensorChart& wanted) {
  Chart chart{.id = std::string(wanted.id),
              .section = "telemetry",
              .title = word(wanted.title),
              .x = {word("axis.time"), "s"},
              .y = {word(wanted.title), std::string(wanted.unit)}};
  const auto add = [&](const Text& name, const std::vector<SensorReading>& readings) {
    if (readings.size() >= 2) chart.series.push_back(sensor_series(name, readings));
  };
  for (const std::string& bus : card_buses(run)) {
    for (const CardSensor& sensor : card_sensors()) {
      if (sensor.unit != wanted.unit || sensor.key == "core_mhz_max") continue;
      add(same(shown(bus, 40) + " ") + word(sensor.name), readings_of(run, bus, sensor));
    }
  }
  for (const HostSensor& sensor : host_sensors()) {
    if (sensor.unit == wanted.unit) add(word(sensor.name), readings_of(run, sensor));
  }
  add_cells(run, chart);
  return chart;
}

}  // namespace

void add_timeline_charts(const Analysis& analysis, std::vector<Chart>& charts) {
  size_t number = 0;
  for (const Point* point : analysis.points_of("starvation")) {
    if (number >= kTimelinesMax) break;
    std::optional<Chart> chart = timeline(analysis, *point, number);
    if (!chart) continue;
    charts.push_back(std::move(*chart));
    ++number;
  }
}

void add_time_charts(const Analysis& analysis, std::vector<Chart>& charts) {
  std::vector<SensorReading> memory;
  for (const Value& value : analysis.run().values) {
    if (value.key == "server_memory_bytes" && std::isfinite(value.value)) {
      memory.push_back({value.at, value.value / (1024.0 * 1024)});
    }
  }
  std::stable_sort(memory.begin(), memory.end(),
                   [](const SensorReading& a, const SensorReading& b) { return a.at < b.at; });
  const Text memory_name = word("value.server_memory_bytes");
  Chart chart{.id = "memory",
              .section = "soak",
              .title = word("chart.memory"),
              .x = {word("axis.time"), "s"},
              .y = {memory_name, "MiB"}};
  if (memory.size() >= 2) chart.series.push_back(sensor_series(memory_name, memory));
  charts.push_back(std::move(chart));
  static constexpr SensorChart kSensorCharts[] = {{"power", "chart.power", "W"},
                                                  {"temperature", "chart.temperature", "°C"},
                                                  {"clock", "chart.clock", "MHz"}};
  for (const SensorChart& wanted : kSensorCharts) {
    charts.push_back(sensor_chart(analysis.run(), wanted));
  }
}

}  // namespace evener::bench
