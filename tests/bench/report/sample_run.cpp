#include "bench/report/sample_run.h"

#include "bench/report/run_builder.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

void add_sweep(RunBuilder& b) {
  for (uint32_t round = 1; round <= 3; ++round) {
    for (const uint64_t length : {1024, 2048, 4096, 8192, 16'384, 32'768}) {
      b.begin("sweep", {{"num_tokens_in", std::to_string(length)}}, round);
      RequestRecord warm_up = b.answer("warm-up", 64, 4, 0.2, 40);
      warm_up.excluded = true;
      b.add(std::move(warm_up));
      const double prefill = 900.0 / (1 + double(length) / 40'000);
      b.add(b.answer("cold", length, 192, double(length) / prefill, 42 - double(length) / 1500));
      const bool is_void = length == 16'384 && round == 2;
      const bool is_partial = length == 32'768;
      if (is_void) b.find(Fault::cached_prompt, Severity::voids, "12,288 of 16,384 tokens cached");
      if (is_partial) b.find(Fault::interrupted, Severity::warning, "Ctrl-C after 1 request");
      b.end(is_void ? CellState::voided : is_partial ? CellState::partial : CellState::complete);
    }
  }
}

void add_concurrency(RunBuilder& b) {
  for (const uint64_t users : {1, 2, 4, 8, 16}) {
    b.begin("concurrency", {{"num_users", std::to_string(users)}}, 1);
    Nanoseconds latest = b.now();
    const double rate = 42.0 / (1 + double(users) / 9);
    for (uint64_t user = 0; user < users; ++user) {
      b.add_beside(
          b.answer("user " + std::to_string(user), 128, 96, 0.18 * (1 + double(user) / 3), rate),
          latest);
    }
    b.go_to(latest);
    if (users == 16)
      b.find(Fault::too_few_samples, Severity::note, "16 requests: p99 is not shown");
    b.end();
  }
}

void add_load(RunBuilder& b) {
  for (const double rate : {0.5, 1.0, 2.0, 3.0}) {
    b.begin("load", {{"requests_per_s", rate == 0.5 ? "0.5" : std::to_string(int(rate))}}, 1);
    const Nanoseconds start = b.now();
    Nanoseconds latest = start;
    for (int i = 0; i < 24; ++i) {
      b.go_to(start + from_seconds(i / rate));
      RequestRecord request =
          b.answer("arrival", 300, 64, 0.2 + rate * rate * 0.02 * i / 4, 38 / rate);
      request.scheduled = request.sent - 200us;
      b.add_beside(std::move(request), latest);
    }
    if (rate > 2) {
      RequestRecord failed;
      failed.cell = "load/3/1";
      failed.label = "arrival";
      failed.sent = b.now();
      failed.ended = b.now() + 40ms;
      failed.http_status = 503;
      failed.error = "queue is full";
      b.add_beside(std::move(failed), latest);
      b.find(Fault::http_error, Severity::warning, "1 of 25 requests: HTTP 503: queue is full");
    }
    b.go_to(latest);
    b.end();
  }
}

void add_summaries(RunBuilder& b) {
  b.begin("load", {{"summary", "saturation"}}, 1);
  b.value("saturation_requests_per_s", "1/s", 2);
  b.end();
}

void add_starvation(RunBuilder& b) {
  for (const uint64_t attacker : {8192, 49'152}) {
    b.begin("starvation",
            {{"num_tokens_attacker", std::to_string(attacker)},
             {"num_victims", "1"},
             {"variant", "one"}},
            1);
    for (const char* const alone : {"attacker alone", "victim alone"}) {
      RequestRecord request = b.answer(alone, 64, 20, 0.2, 42);
      request.excluded = true;
      b.add(std::move(request));
    }
    RequestRecord victim = b.answer("victim", 32, 600, 0.15, 42);
    RequestRecord attack = b.answer("attacker", attacker, 4, double(attacker) / 1024 * 1.2, 10);
    const Nanoseconds shift = victim.events[60].at - attack.sent;
    attack.sent += shift;
    attack.ended += shift;
    for (OutputEvent& event : attack.events) event.at += shift;
    Nanoseconds delay{0};  // the victim gets a few tokens between two chunks of the attacker
    const Nanoseconds attack_time = attack.events[0].at - attack.sent;
    const auto chunks = size_t(attacker / 1024);
    for (size_t i = 61; i < victim.events.size(); ++i) {
      if ((i - 61) % 3 == 0 && (i - 61) / 3 < chunks) delay += attack_time / int64_t(chunks);
      victim.events[i].at += delay;
    }
    victim.ended = victim.events.back().at + 1ms;
    b.add(std::move(victim));
    b.add(std::move(attack));
    b.value("attacker_ttft_alone_ms", "ms", double(attacker) * 1.1);
    b.value("attacker_ttft_contended_ms", "ms", double(attacker) * 1.2);
    b.value("gap_attack_median_ms", "ms", 1233);
    b.value("gap_expected_ms", "ms", 1190);
    b.value("num_gaps_observed", "", double(attacker / 1024));
    b.value("num_gaps_expected", "", double(attacker / 1024));
    b.value("chunk_tokens", "tokens", 1024);
    b.value("victim_alone_tokens_per_s", "tokens/s", 42.1);
    b.value("victim_during_tokens_per_s", "tokens/s", 2.6);
    b.value("speed_kept", "share", 0.062);
    b.find(Fault::stall, Severity::warning, "longest gap 1.31 s, median 23.8 ms");
    b.end();
  }
}

void add_reuse(RunBuilder& b) {
  for (uint64_t turn = 1; turn <= 6; ++turn) {
    b.begin("prefix", {{"shape", "multi_turn"}, {"turn", std::to_string(turn)}}, 1);
    for (int session = 0; session < 4; ++session) {
      RequestRecord request = b.answer("session " + std::to_string(session), 400 * turn, 48,
                                       turn == 1 ? 0.5 : 0.12 + 0.01 * double(turn), 40);
      request.num_tokens_cached = turn == 1 ? 0 : 400 * (turn - 1);
      b.add(std::move(request));
    }
    b.end();
  }
  for (const std::string_view kind : {"prose", "code", "counting"}) {
    b.begin("spec", {{"sampling", "greedy"}, {"text_kind", std::string(kind)}}, 1);
    RequestRecord request = b.answer("greedy", 200, 256, 0.25,
                                     kind == "prose"  ? 48
                                     : kind == "code" ? 71
                                                      : 95);
    request.server.num_drafted = 300;
    request.server.num_accepted = kind == "prose" ? 130 : kind == "code" ? 210 : 280;
    b.add(std::move(request));
    b.end();
  }
}

void add_long_run(RunBuilder& b) {
  for (int window = 1; window <= 10; ++window) {
    b.begin("soak", {{"window", std::to_string(window)}}, 1);
    for (int i = 0; i < 6; ++i) {
      b.add(b.answer("user", 500, 64, 0.5, 40 - 0.3 * window));
      b.value("server_memory_bytes", "bytes", 1.9e9 + 4e6 * window + 1e6 * i);
    }
    b.end();
  }
  b.begin("soak", {{"summary", "soak"}}, 1);
  b.value("retention", "share", 0.972);
  b.value("num_empty_answers", "", 0);
  b.value("memory_growth_bytes_per_h", "bytes", 3.1e6);
  b.end();
}

void add_quality(RunBuilder& b) {
  for (const std::string_view task : {"json", "json_constrained", "tool_call", "code"}) {
    b.begin("quality", {{"task", std::string(task)}}, 1);
    for (int i = 0; i < 8; ++i) {
      b.add(b.answer(std::string(task), 300, 80, 0.3, 40));
      b.value("score", "share", i == 3 && task != "json_constrained" ? 0 : 1);
    }
    b.end();
  }
  for (const std::string_view depth : {"10", "50", "90"}) {
    b.begin("quality",
            {{"task", "needle"}, {"num_tokens_in", "16384"}, {"depth", std::string(depth)}}, 1);
    b.add(b.answer("needle", 16'384, 12, 18, 30));
    b.value("score", "share", depth == "50" ? 0 : 1);
    if (depth == "50") b.find(Fault::wrong_answer, Severity::warning, "said 4711, hidden was 1923");
    b.end();
  }
}

void add_machine(RunBuilder& b) {
  for (uint32_t round = 1; round <= 2; ++round) {
    b.begin("coldstart", {{"start", "command"}}, round);
    b.value("phase_process_start_s", "s", 0.08 * b.noise());
    b.value("phase_load_s", "s", 3.4 * b.noise());
    b.value("phase_warm_up_s", "s", 1.2 * b.noise());
    b.value("phase_ready_s", "s", 0.05 * b.noise());
    b.value("phase_first_answer_s", "s", 0.31 * b.noise());
    b.value("total_s", "s", 5.05 * b.noise());
    b.end();
  }
  for (const std::string_view threads : {"1", "2"}) {
    b.begin("kernel", {{"what", "read memory"}, {"threads", std::string(threads)}}, 1);
    for (int i = 0; i < 5; ++i) {
      b.value("bandwidth", "GB/s", (threads == "1" ? 11.2 : 19.8) * b.noise());
    }
    b.end();
  }
  for (const std::string_view link : {"cpu0 -> cpu1", "cpu0 -> host"}) {
    for (const uint64_t size : {4096, 65'536, 1'048'576, 16'777'216}) {
      b.begin("link", {{"link", std::string(link)}, {"size_bytes", std::to_string(size)}}, 1);
      for (int i = 0; i < 5; ++i) {
        b.value("bandwidth", "GB/s", 14.0 / (1 + 60'000.0 / double(size)) * b.noise());
        b.value("latency", "us", (1.8 + double(size) / 14'000) * b.noise());
      }
      b.value("data_wrong", "", 0);
      b.end();
    }
  }
}

void add_telemetry(RunBuilder& b) {
  const Nanoseconds end = b.now();
  double heat = 41;
  for (Nanoseconds at{0}; at < end; at += end / 400) {
    bool is_busy = false;
    for (const CellRecord& cell : b.run.cells) {
      is_busy = is_busy || (cell.began <= at && at < cell.ended);
    }
    heat += ((is_busy ? 78 : 44) - heat) * 0.03;
    telemetry::Sample sample;
    sample.host.cpu_mhz_mean = is_busy ? 3400 * b.noise() : 2100;
    sample.host.cpu_celsius = heat - 6;
    sample.host.cpu_power_w = (is_busy ? 92 : 31) * b.noise();
    sample.host.load_average = 2.1;
    sample.host.memory_available_bytes = uint64_t(21) << 30;
    sample.host.pages_swapped_in = 0;
    for (const std::string_view bus : {"0000:03:00.0", "0000:83:00.0"}) {
      telemetry::CardReading card;
      card.bus = std::string(bus);
      card.name = "Radeon RX 7900 XTX";
      const double share = bus == "0000:03:00.0" ? 1 : 0.93;
      card.power_w = (is_busy ? 268 : 34) * share * b.noise();
      card.junction_celsius = heat * share + 6;
      card.core_mhz = is_busy ? 2380 * b.noise() : 520;
      card.memory_used_bytes = uint64_t(18) << 30;
      if (heat > 77) card.throttle = {"thermal"};
      sample.cards.push_back(std::move(card));
    }
    b.run.telemetry.push_back({at, std::move(sample)});
  }
}

}  // namespace

Run sample_run() {
  RunBuilder b;
  b.run.header = {
      .id = "20261130-142231-3fa9",
      .name = "all",
      .note = "Two cards under the desk, side panel off.",
      .started = std::chrono::system_clock::time_point(std::chrono::seconds(1'796'048'551)),
      .caliber = {
          {"tool.version", "0.1.0"},
          {"tool.commit", "24d4f8e"},
          {"server.kind", "evener"},
          {"server.version", "0.1.0"},
          {"server.url_kind", "loopback"},
          {"server.flags", "--parallel 16 --chunk 1024"},
          {"model.id", "Qwen3-14B-Q4_K_M"},
          {"model.hash", "8f2e6c1d4b7a905e33c1f0a2d9b84765ce019ab3d4e5f60718293a4b5c6d7e8f"},
          {"model.quantisation", "Q4_K_M"},
          {"engine.context_tokens", "65536"},
          {"engine.kv_type", "q8_0"},
          {"engine.tensor_parallel", "2"},
          {"host.cpu", "AMD EPYC 7532"},
          {"host.cores", "32"},
          {"host.ram_bytes", "137438953472"},
          {"host.kernel", "6.12.9"},
          {"host.facts_hash", "a1b2c3d4e5f60718"},
          {"device.0000:03:00.0.name", "Radeon RX 7900 XTX"},
          {"device.0000:03:00.0.power_cap_w", "300"},
          {"device.0000:83:00.0.name", "Radeon RX 7900 XTX"},
          {"device.0000:83:00.0.power_cap_w", "300"},
          {"method.cache", "cold: flushed, unique prefixes, 0 cached seen"},
          {"method.length_control", "ignore_eos, checked"},
          {"method.percentile", "nearest rank"},
          {"method.rounds", "3"},
          {"method.seed", "1"},
          {"option.load.ttft_ms", "1000"},
          {"option.load.gap_max_ms", "500"}}};
  b.run.state = RunState::complete;
  add_sweep(b);
  add_concurrency(b);
  add_load(b);
  add_summaries(b);
  add_starvation(b);
  add_reuse(b);
  add_long_run(b);
  add_quality(b);
  add_machine(b);
  add_telemetry(b);
  b.find(Fault::thermal_drift, Severity::warning,
         "0000:03:00.0: junction 47 to 84 C from the first cell to the last", false);
  return std::move(b.run);
}

}  // namespace evener::bench
