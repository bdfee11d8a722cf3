#include <algorithm>
#include <set>

#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/sensors.h"
#include "bench/report/table_builder.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

// A row of the table, and a line of little bars for what moves with the load.
void add_sensor(Section& section, TableBuilder& builder, const Text& device, const Sensor& sensor,
                const std::vector<SensorReading>& readings) {
  if (readings.empty()) return;
  std::vector<double> values;
  for (const SensorReading& reading : readings) values.push_back(reading.value);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const NumberFormat format = format_for(sorted, sensor.unit);
  builder.row();
  builder.text(device);
  builder.text(word(sensor.name));
  for (const double value : {sorted.front(), percentile(sorted, 0.5), sorted.back()}) {
    builder.text(same(number(value, format) + (format.unit.empty() ? "" : " " + format.unit)));
  }
  builder.number(double(readings.size()));
  const bool moves = sensor.unit == "W" || sensor.unit == "MHz" || sensor.unit == "°C";
  if (!moves || values.size() < 3 || sorted.front() == sorted.back()) return;
  section.sparks.push_back(
      {device + same(" ") + word(sensor.name), std::move(values), std::string(sensor.unit)});
}

void add_throttling(const Run& run, Section& section) {
  for (const std::string& bus : card_buses(run)) {
    std::set<std::string> reasons;
    for (const TelemetryRow& row : run.telemetry) {
      for (const telemetry::CardReading& card : row.sample.cards) {
        if (card.bus == bus) reasons.insert(card.throttle.begin(), card.throttle.end());
      }
    }
    if (reasons.empty()) continue;
    std::string list;
    for (const std::string& reason : reasons)
      list += (list.empty() ? "" : ", ") + shown(reason, 60);
    section.remarks.push_back(same(card_name(run, bus) + ": ") +
                              fill(word("sensor.throttle"), {same(list)}));
  }
}

void add_swapping(const Run& run, Section& section) {
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;
  for (const TelemetryRow& row : run.telemetry) {
    const std::optional<uint64_t>& pages = row.sample.host.pages_swapped_in;
    if (!pages) continue;
    if (!first) first = pages;
    last = pages;
  }
  if (!first || *last <= *first) return;
  section.remarks.push_back(fill(word("sensor.swapped"), {same(std::to_string(*last - *first))}));
}

}  // namespace

Section telemetry_section(const Run& run) {
  Section section{.id = "telemetry", .title = word("page.telemetry"), .lead = {}};
  TableBuilder builder("sensors");
  builder.key_column(word("column.device"));
  builder.key_column(word("column.sensor"));
  builder.text_column(word("column.min"));
  builder.text_column(word("column.median"));
  builder.text_column(word("column.max"));
  builder.number_column(word("column.readings"), "");
  for (const std::string& bus : card_buses(run)) {
    for (const CardSensor& sensor : card_sensors()) {
      add_sensor(section, builder, same(card_name(run, bus)), sensor,
                 readings_of(run, bus, sensor));
    }
  }
  for (const HostSensor& sensor : host_sensors()) {
    add_sensor(section, builder, word("word.host"), sensor, readings_of(run, sensor));
  }
  if (builder.has_rows()) section.tables.push_back(builder.finish());
  add_throttling(run, section);
  add_swapping(run, section);
  return section;
}

}  // namespace evener::bench
