#include <cmath>

#include "bench/report/run_builder.h"
#include "bench/report/sample_run.h"

namespace evener::bench {

using namespace std::chrono_literals;

Run hostile_run() {
  const std::string bad =
      "</script><img src=x onerror=alert(1)> | `x` \x1b[2J\xE2\x80\xAE\xFF \"quoted\" & <!-- **b** "
      "http://example.com/x.js";
  RunBuilder b;
  b.run.header = {.id = bad, .name = bad, .note = bad, .started = {}, .caliber = {}};
  for (const std::string_view key : {"model.id", "server.flags", "device.x.name", "weird"}) {
    b.run.header.caliber[std::string(key)] = bad;
  }
  b.run.header.caliber[bad] = bad;
  for (const std::string& experiment : {std::string("sweep"), bad}) {
    b.begin(experiment, {{bad, bad}, {"num_tokens_in", bad}}, 1);
    b.add(b.answer(bad, 100, 20, 0.1, 40));
    RequestRecord failed = b.answer(bad, 100, 1, 0.1, 40);
    failed.finish = Finish::error;
    failed.error = bad;
    b.add(std::move(failed));
    b.value(bad, bad, 1);
    b.value("phase_" + bad + "_s", "s", std::nan(""));
    b.value("huge", bad, 1e300);
    b.find(Fault::stall, Severity::warning, bad);
    b.end();
  }
  b.begin("coldstart", {{"start", bad}}, 4'000'000'000);
  b.value("phase_" + bad + "_s", "s", 1);
  b.value("phase_x_s", "s", -1);
  b.end();
  telemetry::Sample sample;
  telemetry::CardReading& card = sample.cards.emplace_back();
  card.bus = bad;
  card.name = bad;
  card.power_w = 10;
  card.throttle = {bad};
  b.run.telemetry = {{1s, sample}, {2s, sample}, {2s, sample}};
  b.run.findings.push_back({Fault::reset, Severity::voids, "no such cell", bad, bad});
  return std::move(b.run);
}

}  // namespace evener::bench
