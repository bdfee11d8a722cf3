#include <fmt/format.h>

#include "bench/experiments/experiment_bench.h"
#include "bench/experiments/experiments.h"

namespace evener::bench {

namespace {

// A second, in tenths that hold some answers each.
ExperimentOptions::Soak short_soak() {
  return {.time = std::chrono::duration<double>(1), .num_users = 2};
}

TEST(SoakExperiment, KeepsEachTenthAndSumsUp) {
  ExperimentBench bench(
      scripted([&](Script& s) { s.more_metrics = "process_resident_memory_bytes 100000000\n"; }));
  bench.options.soak = short_soak();
  bench.options.num_tokens_out = 8;
  const Status done = bench.run(soak_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(bench.book().cells.size(), 11U);
  const auto memory = bench.values("server_memory_bytes");
  EXPECT_EQ(memory.size(), 10U);
  EXPECT_EQ(bench.values("num_empty_answers")["soak/soak/1"], std::vector<double>{0});
  EXPECT_EQ(bench.values("memory_growth_bytes_per_h")["soak/soak/1"], std::vector<double>{0});
  EXPECT_EQ(bench.findings(Fault::memory_grew), "");
  std::set<uint32_t> lengths;
  for (const RequestRecord& record : bench.book().requests)
    lengths.insert(record.num_tokens_in_wanted);
  EXPECT_EQ(lengths.size(), 2U) << "short and long ones";
}

TEST(SoakExperiment, SeesMemoryThatGrows) {
  Script script;
  ExperimentBench bench(script);
  std::mutex mutex;
  uint64_t num_bytes = 1 << 30;
  script.answer = [&](const json::Value&) {
    const std::lock_guard lock(mutex);
    num_bytes += 8 << 20;
    script.more_metrics = fmt::format("process_resident_memory_bytes {}\n", num_bytes);
    bench.server().set(script);
    return std::vector<std::string>();
  };
  bench.server().set(script);
  bench.options.soak = short_soak();
  bench.options.num_tokens_out = 8;
  const Status done = bench.run(soak_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_NE(bench.findings(Fault::memory_grew), "");
  EXPECT_GT(bench.values("memory_growth_bytes_per_h")["soak/soak/1"].at(0), 0);
}

TEST(SoakExperiment, SeesAServerThatSlowsDown) {
  ExperimentBench bench;
  bench.options.soak = short_soak();
  bench.options.soak.time *= 5;  // a busy machine too gives some short answers in a tenth
  bench.options.num_tokens_out = 8;
  bench.on_progress = [&](const std::string& what) {
    if (what.starts_with("soak, tenth 10"))
      bench.server().set(
          scripted([&](Script& s) { s.time_per_token = std::chrono::milliseconds(3); }));
  };
  const Status done = bench.run(soak_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_NE(bench.findings(Fault::slowed_down), "");
  EXPECT_LT(bench.values("retention")["soak/soak/1"].at(0), 0.97);
}

TEST(SoakExperiment, CountsAnswersWithoutAWord) {
  ExperimentBench bench;
  bench.options.soak = short_soak();
  bench.on_progress = [&](const std::string& what) {
    if (what.starts_with("soak, tenth 2"))
      bench.server().set(scripted([&](Script& s) { s.silent = true; }));
  };
  const Status done = bench.run(soak_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_GT(bench.values("num_empty_answers")["soak/soak/1"].at(0), 0);
  EXPECT_NE(bench.findings(Fault::empty_answer), "");
}

TEST(SoakExperiment, KeepsWhatIsThereAfterAnInterrupt) {
  ExperimentBench bench;
  bench.options.soak = short_soak();
  bench.on_progress = [&](const std::string& what) {
    if (what.starts_with("soak, tenth 3")) bench.stop = true;
  };
  const Status done = bench.run(soak_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  ASSERT_EQ(bench.book().cells.size(), 4U) << "three tenths and the sum";
  EXPECT_EQ(bench.book().cells[1].state, CellState::complete);
  EXPECT_EQ(bench.book().cells[2].state, CellState::partial);
}

}  // namespace
}  // namespace evener::bench
