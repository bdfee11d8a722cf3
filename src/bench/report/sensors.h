#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/report/words.h"
#include "bench/run.h"

namespace evener::bench {

struct Sensor {
  WordKey name;
  std::string_view key;  // in the appendix: "power_w"
  std::string_view unit;
};
struct CardSensor : Sensor {
  std::optional<double> (*read)(const telemetry::CardReading& card);
};
struct HostSensor : Sensor {
  std::optional<double> (*read)(const telemetry::HostReading& host);
};

std::span<const CardSensor> card_sensors();
std::span<const HostSensor> host_sensors();

// Of all samples, in their order.
std::vector<std::string> card_buses(const Run& run);
// "Radeon RX 7900 XTX", empty if unknown; then with ", 0000:03:00.0".
std::string card_model(const Run& run, const std::string& bus);
std::string card_name(const Run& run, const std::string& bus);

struct SensorReading {
  Nanoseconds at;
  double value;
};
std::vector<SensorReading> readings_of(const Run& run, const HostSensor& sensor);
std::vector<SensorReading> readings_of(const Run& run, const std::string& bus,
                                       const CardSensor& sensor);

}  // namespace evener::bench
