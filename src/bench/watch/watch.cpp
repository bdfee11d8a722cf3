#include "bench/watch.h"

#include <algorithm>
#include <utility>

namespace evener::bench {

Watch::Watch(Recorder& inner, WatchOptions options) : inner_(inner) {
  telemetry::Sensors sensors = telemetry::Sensors::open(std::move(options.sensors));
  rules_ = {.num_cpus = sensors.num_cpus(),
            .all_work_is_own = options.all_work_is_own,
            .claimed_cards = std::move(options.claimed_cards)};
  num_cards_ = sensors.num_cards();
  missing_ = sensors.missing();
  sampler_ = std::make_unique<telemetry::Sampler>(
      std::move(sensors), options.interval,
      [this](const telemetry::Sample& sample) { take(sample); });
  sampler_->sample_now();
}

Watch::~Watch() { sampler_->stop(); }

void Watch::request(RequestRecord record) {
  {
    const std::lock_guard lock(mutex_);
    requests_[record.cell].push_back({record.sent, record.ended});
  }
  inner_.request(std::move(record));
}

Status Watch::end_cell(CellRecord cell) {
  sampler_->sample_now();
  Judgement judgement = judge(cell);
  if (judgement.energy_j) {
    inner_.value({.cell = cell.key,
                  .key = "energy_j",
                  .unit = "J",
                  .value = *judgement.energy_j,
                  .at = cell.ended});
  }
  for (Finding& finding : judgement.findings) {
    const bool voids = finding.severity == Severity::voids;
    if (voids && cell.state == CellState::complete) cell.state = CellState::voided;
    inner_.finding(std::move(finding));
  }
  return inner_.end_cell(std::move(cell));
}

void Watch::take(const telemetry::Sample& sample) {
  {
    const std::lock_guard lock(mutex_);
    rows_.push_back({.at = sample.at - start(), .sample = sample});
  }
  inner_.telemetry(sample);
}

Watch::Judgement Watch::judge(const CellRecord& cell) {
  const std::lock_guard lock(mutex_);
  const auto in_cell =
      std::ranges::find_if(rows_, [&](const TelemetryRow& row) { return row.at >= cell.began; });
  // What came before it is of no more use, but for the last reading.
  if (in_cell - rows_.begin() > 1) rows_.erase(rows_.begin(), in_cell - 1);
  Judgement judgement = {.findings = check_telemetry(cell, rows_, requests_[cell.key], rules_),
                         .energy_j = energy_j(cell, rows_, num_cards_)};
  requests_.erase(cell.key);

  Temperatures here;  // in the first reading of each part
  for (const TelemetryRow& row : rows_) here.merge(temperatures_of(row.sample));
  const auto first = first_temperatures_.emplace(cell.experiment, here).first;
  for (Finding& finding : check_drift(cell.key, first->second, here)) {
    judgement.findings.push_back(std::move(finding));
  }
  return judgement;
}

}  // namespace evener::bench
