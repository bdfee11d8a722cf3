#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/recorder.h"
#include "telemetry/sampler.h"

// The sensors of this machine beside a run, and what they say of each cell.
// Source: reference/serving/bench.md, 3.6, 3.9 and 3.12.

namespace evener::bench {

// What the figures of sensors are held against.
struct WatchRules {
  size_t num_cpus = 0;          // of this machine; 0: not known, the processors are not judged
  bool all_work_is_own = true;  // false: a server runs here whose processes were not named
  std::vector<std::string> claimed_cards;  // bus addresses of cards that must have worked
};

// Something that was sent and answered, in the run's time.
struct Interval {
  Nanoseconds began{0};
  Nanoseconds ended{0};
};

// What telemetry says of one cell. `rows` are those of its window, and the last one before it, in
// order of time; `requests` is when requests ran. At most one finding of a kind and a part.
//
//   clocks_moved   voids: a card's power cap or the upper end of its core clock changed, the cap of
//                  the processors' clock changed, their throttle counters rose, or a card slowed
//                  itself down for heat, current or the board's sake in a busy moment
//                  note: a card was at its power cap, which is how it is set
//                  warning: the core clock of a busy card in the second half of the cell is more
//                  than 10 % off the first (medians of 4 readings or more each)
//   swapped        warning: 1 MiB or more came back from swap
//   busy_machine   warning: others than the run had more than 5 % of the processors, or more than
//                  0.2 of one where that is more; the hypervisor gave more than 5 % away. Beside a
//                  foreign server: tasks waited for a processor in more than a quarter of the time,
//                  and the load average is over 1.5 a processor
//   card_idle      voids: a claimed card was never busy for a fifth of the time in the readings
//                  while requests ran, of which there were two or more
//                  note: there were fewer, so nothing is proven
std::vector<Finding> check_telemetry(const CellRecord& cell, std::span<const TelemetryRow> rows,
                                     std::span<const Interval> requests, const WatchRules& rules);

// Temperatures at which cells began: of each card by its bus address (the junction where it is
// told, else the edge), and of the processors ("cpu").
using Temperatures = std::map<std::string, double>;
Temperatures temperatures_of(const telemetry::Sample& sample);

// thermal_drift: a card began this cell more than 15 degrees, or the processors 25, away from where
// the first cell of the experiment did. Warning.
std::vector<Finding> check_drift(const std::string& cell, const Temperatures& first,
                                 const Temperatures& here);

// What the processors' packages and all `num_cards` cards took in the cell's window, by the power
// that each reading stands for; neither memory nor losses of supplies are in it. Absent if a part
// or the end of the window is not known.
std::optional<double> energy_j(const CellRecord& cell, std::span<const TelemetryRow> rows,
                               size_t num_cards);

struct WatchOptions {
  telemetry::SensorOptions sensors;  // with the run's own processes
  std::chrono::milliseconds interval{500};
  bool all_work_is_own = true;
  std::vector<std::string> claimed_cards;
};

// A recorder that hands all on to another, reads the sensors meanwhile, and judges each cell when
// it ends: what it finds is recorded, and so is the value energy_j, and a cell that it voids is
// ended so. Cells follow each other. It must be gone before the other recorder finishes.
class Watch final : public Recorder {
 public:
  // Reads the sensors for the first time before it returns. `inner` outlives it.
  Watch(Recorder& inner, WatchOptions options);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() override;

  Nanoseconds now() const override { return inner_.now(); }
  Clock::time_point start() const override { return inner_.start(); }
  void request(RequestRecord record) override;
  void value(Value value) override { inner_.value(std::move(value)); }
  void finding(Finding finding) override { inner_.finding(std::move(finding)); }
  void telemetry(telemetry::Sample sample) override { inner_.telemetry(std::move(sample)); }
  Status end_cell(CellRecord cell) override;

  // Sensors that are there and may not be read.
  const std::vector<host::Missing>& missing() const { return missing_; }
  // What reading them cost.
  telemetry::Sampler::Cost cost() const { return sampler_->cost(); }

 private:
  void take(const telemetry::Sample& sample);
  struct Judgement {
    std::vector<Finding> findings;
    std::optional<double> energy_j;
  };
  Judgement judge(const CellRecord& cell);

  Recorder& inner_;
  WatchRules rules_;
  size_t num_cards_ = 0;
  std::vector<host::Missing> missing_;
  std::mutex mutex_;  // over the three
  std::vector<TelemetryRow> rows_;
  std::map<std::string, std::vector<Interval>> requests_;   // by cell
  std::map<std::string, Temperatures> first_temperatures_;  // by experiment
  std::unique_ptr<telemetry::Sampler> sampler_;
};

}  // namespace evener::bench
