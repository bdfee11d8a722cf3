#include "bench/report/sensors.h"

#include <cmath>
#include <set>

namespace evener::bench {
namespace {

using Card = const telemetry::CardReading&;
using Host = const telemetry::HostReading&;
using Reading = std::optional<double>;

Reading of_bytes(const std::optional<uint64_t>& bytes) {
  return bytes ? Reading(double(*bytes)) : std::nullopt;
}

}  // namespace

std::span<const CardSensor> card_sensors() {
  static const CardSensor sensors[] = {
      {{"sensor.power", "power_w", "W"}, [](Card card) { return card.power_w; }},
      {{"sensor.edge", "edge_celsius", "°C"}, [](Card card) { return card.edge_celsius; }},
      {{"sensor.junction", "junction_celsius", "°C"},
       [](Card card) { return card.junction_celsius; }},
      {{"sensor.memory_temperature", "memory_celsius", "°C"},
       [](Card card) { return card.memory_celsius; }},
      {{"sensor.core_clock", "core_mhz", "MHz"}, [](Card card) { return card.core_mhz; }},
      {{"sensor.core_clock_max", "core_mhz_max", "MHz"},
       [](Card card) { return card.core_mhz_max; }},
      {{"sensor.memory_clock", "memory_mhz", "MHz"}, [](Card card) { return card.memory_mhz; }},
      {{"sensor.busy", "busy", "share"}, [](Card card) { return card.busy; }},
      {{"sensor.memory_used", "memory_used_bytes", "bytes"},
       [](Card card) { return of_bytes(card.memory_used_bytes); }},
  };
  return sensors;
}

std::span<const HostSensor> host_sensors() {
  static const HostSensor sensors[] = {
      {{"sensor.cpu_clock", "cpu_mhz_mean", "MHz"}, [](Host host) { return host.cpu_mhz_mean; }},
      {{"sensor.cpu_clock_min", "cpu_mhz_min", "MHz"}, [](Host host) { return host.cpu_mhz_min; }},
      {{"sensor.cpu_temperature", "cpu_celsius", "°C"}, [](Host host) { return host.cpu_celsius; }},
      {{"sensor.cpu_power", "cpu_power_w", "W"}, [](Host host) { return host.cpu_power_w; }},
      {{"sensor.load", "load_average", ""}, [](Host host) { return host.load_average; }},
      {{"sensor.memory_available", "memory_available_bytes", "bytes"},
       [](Host host) { return of_bytes(host.memory_available_bytes); }},
      {{"sensor.pressure", "cpu_pressure", "share"}, [](Host host) { return host.cpu_pressure; }},
  };
  return sensors;
}

std::vector<std::string> card_buses(const Run& run) {
  std::vector<std::string> buses;
  std::set<std::string> seen;
  for (const TelemetryRow& row : run.telemetry) {
    for (const telemetry::CardReading& card : row.sample.cards) {
      if (seen.insert(card.bus).second) buses.push_back(card.bus);
    }
  }
  return buses;
}

std::string card_model(const Run& run, const std::string& bus) {
  for (const TelemetryRow& row : run.telemetry) {
    for (const telemetry::CardReading& card : row.sample.cards) {
      if (card.bus == bus && !card.name.empty()) return shown(card.name, 60);
    }
  }
  return {};
}

std::string card_name(const Run& run, const std::string& bus) {
  const std::string model = card_model(run, bus);
  return model.empty() ? shown(bus, 40) : model + ", " + shown(bus, 40);
}

std::vector<SensorReading> readings_of(const Run& run, const HostSensor& sensor) {
  std::vector<SensorReading> readings;
  for (const TelemetryRow& row : run.telemetry) {
    const Reading value = sensor.read(row.sample.host);
    if (value && std::isfinite(*value)) readings.push_back({row.at, *value});
  }
  return readings;
}

std::vector<SensorReading> readings_of(const Run& run, const std::string& bus,
                                       const CardSensor& sensor) {
  std::vector<SensorReading> readings;
  for (const TelemetryRow& row : run.telemetry) {
    for (const telemetry::CardReading& card : row.sample.cards) {
      const Reading value = card.bus == bus ? sensor.read(card) : std::nullopt;
      if (value && std::isfinite(*value)) readings.push_back({row.at, *value});
    }
  }
  return readings;
}

}  // namespace evener::bench
