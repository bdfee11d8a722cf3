#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/experiment.h"
#include "bench/machine/all_reduce.h"
#include "bench/machine/copy_pattern.h"
#include "bench/machine/machine_cell.h"
#include "bench/machine/peaks.h"
#include "bench/machine/random_weights.h"
#include "bench/notebook.h"
#include "quant/format.h"

namespace evener::bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;
using testing::UnorderedElementsAre;

const Experiment& experiment(std::string_view name) {
  for (const Experiment* candidate : experiments()) {
    if (candidate->name == name) return *candidate;
  }
  ADD_FAILURE() << "no experiment " << name;
  return *experiments().front();
}

TEST(CopyPattern, OneWrongBitIsSeenWhereverItIs) {
  std::vector<float> values(1000);
  fill_pattern(values, 7);
  EXPECT_EQ(count_wrong_bytes(values, 7), 0);
  for (const size_t place : {size_t{0}, size_t{499}, size_t{999}}) {
    std::vector<float> damaged = values;
    reinterpret_cast<unsigned char*>(damaged.data())[place * 4 + 3] ^= 1;
    EXPECT_EQ(count_wrong_bytes(damaged, 7), 1) << place;
  }
}

// What an earlier copy left behind, or a copy to another place, does not pass for the right one.
TEST(CopyPattern, OtherSeedsAndOtherPlacesHaveOtherWords) {
  std::vector<float> values(1000);
  fill_pattern(values, 7);
  // By chance one byte in 256 is the same.
  EXPECT_GT(count_wrong_bytes(values, 8), 3800);
  EXPECT_GT(count_wrong_bytes(values, ~7U), 3800);
  EXPECT_GT(count_wrong_bytes(std::span<const float>(values).subspan(1), 7), 3800);
}

TEST(RandomWeights, AreFiniteNumbersInEveryFormat) {
  for (const quant::Format* format : quant::formats()) {
    const size_t count = 16 * size_t{256};
    const auto bytes = random_weights(format->dtype, count);
    std::vector<float> weights(count);
    format->decode(bytes, weights.data());
    for (const float weight : weights) {
      ASSERT_TRUE(std::isfinite(weight)) << info(format->dtype).name;
    }
    EXPECT_NE(weights.front(), weights.back() + 1) << info(format->dtype).name;
  }
}

TEST(BigMemory, ReadsEveryWordOnceWithAnyNumberOfThreads) {
  const std::vector<int> cpus = {0, 0};
  const auto pool = ThreadPool::create(cpus);
  const auto alone = ThreadPool::create(std::span(cpus).first(1));
  ASSERT_TRUE(pool);
  ASSERT_TRUE(alone);
  const BigMemory memory(**pool, size_t{3} << 20);
  EXPECT_EQ(memory.size_bytes(), size_t{3} << 20);
  // Pieces of 2^17 words that count up from the piece's own number.
  const uint64_t n = uint64_t{1} << 17;
  EXPECT_EQ(memory.read(**pool), 3 * (n * (n - 1) / 2) + n * (0 + 1 + 2));
  EXPECT_EQ(memory.read(**alone), memory.read(**pool));
}

TEST(Peaks, AreOfTheInstructionSetsThatThisCpuHas) {
  std::set<std::string> seen;
  for (const auto* peak : available_peaks()) {
    EXPECT_NE(peak->multiply(10), 0) << peak->isa << " " << peak->units;
    EXPECT_TRUE(seen.insert(std::string(peak->isa) + peak->units).second);
  }
  EXPECT_EQ(seen.size() % 2, 0);
}

class MachineExperiment : public testing::Test {
 protected:
  Bench bench() {
    return {.client = nullptr,
            .server = nullptr,
            .prompts = nullptr,
            .recorder = notebook_,
            .options = options_,
            .stop = stop_,
            .progress = {}};
  }

  Notebook notebook_;
  ExperimentOptions options_;
  std::atomic<bool> stop_ = false;
};

TEST_F(MachineExperiment, ACellHasItsKeyItsTimesAndItsValues) {
  Bench here = bench();
  MachineCell cell(
      here, {.experiment = "link", .point = "a/4096", .round = 2, .target = {{"link", "a"}}});
  cell.value("bandwidth", "GB/s", 3);
  ASSERT_TRUE(cell.end());
  ASSERT_EQ(notebook_.cells.size(), 1);
  const CellRecord& record = notebook_.cells[0];
  EXPECT_EQ(record.key, "link/a/4096/2");
  EXPECT_EQ(record.experiment, "link");
  EXPECT_EQ(record.round, 2);
  EXPECT_EQ(record.state, CellState::complete);
  EXPECT_LE(record.began, record.ended);
  ASSERT_EQ(notebook_.values.size(), 1);
  EXPECT_EQ(notebook_.values[0].cell, record.key);
}

TEST_F(MachineExperiment, AnInterruptedCellIsPartialAndOneThatIsWrongIsVoid) {
  Bench here = bench();
  MachineCell wrong(here, {.experiment = "link", .point = "a", .round = 1, .target = {}});
  wrong.finding(Fault::wrong_answer, Severity::voids, "");
  ASSERT_TRUE(wrong.end());
  EXPECT_EQ(notebook_.cells[0].state, CellState::voided);
  MachineCell interrupted(here, {.experiment = "link", .point = "b", .round = 1, .target = {}});
  stop_ = true;
  ASSERT_TRUE(interrupted.end());
  EXPECT_EQ(notebook_.cells[1].state, CellState::partial);
  EXPECT_EQ(notebook_.findings.back().fault, Fault::interrupted);
}

TEST_F(MachineExperiment, EverySampleIsPreparedAndCheckedAndAnInterruptEndsThem) {
  const Bench here = bench();
  std::string order;
  const auto seconds = time_calls(here, 3,
                                  {.call =
                                       [&] {
                                         if (order.back() != 'c') order += 'c';
                                       },
                                   .before = [&] { order += 'b'; },
                                   .after = [&] { order += 'a'; }});
  EXPECT_EQ(order, "bcabcabcabcabca") << "two to warm up and to find the number of calls";
  EXPECT_EQ(seconds.size(), 3);
  stop_ = true;
  EXPECT_TRUE(time_calls(here, 3, {.call = [] {}}).empty());
}

// Two sizes over all ways that this machine has.
TEST_F(MachineExperiment, LinkMeasuresEveryWayAndComparesWhatArrived) {
  options_.num_rounds = 2;
  options_.link.sizes_bytes = {65536, 4096, 4097};  // the last two are one
  Bench here = bench();
  ASSERT_TRUE(experiment("link").run(here));
  std::set<std::string> keys;
  for (const CellRecord& cell : notebook_.cells) {
    EXPECT_EQ(cell.state, CellState::complete) << cell.key;
    EXPECT_THAT(cell.target, AllOf(Contains(Key("link")), Contains(Key("size_bytes"))));
    EXPECT_TRUE(keys.insert(cell.key).second) << cell.key;
  }
  for (const char* key :
       {"link/host-to-cpu:0/4096/1", "link/cpu:0-to-host/65536/2", "link/cpu:0-within/4096/2"}) {
    EXPECT_TRUE(keys.contains(key)) << key;
  }
  std::map<std::string, size_t> counts;
  for (const Value& value : notebook_.values) {
    if (value.cell == "link/host-to-cpu:0/4096/1") ++counts[value.key];
    EXPECT_EQ(value.value > 0, value.key != "data_wrong") << value.key << " " << value.value;
  }
  EXPECT_THAT(counts, UnorderedElementsAre(Pair("bandwidth", 5), Pair("latency", 5),
                                           Pair("data_wrong", 1)));
}

// Between two nodes or two cores; on a single core a note says why there is no figure.
TEST_F(MachineExperiment, LinkSumsOverRanksWhereThereAreCoresForTwo) {
  options_.num_rounds = 1;
  options_.link.sizes_bytes = {12288};
  Bench here = bench();
  ASSERT_TRUE(experiment("link").run(here));
  const auto devices = devices_to_sum_over();
  ASSERT_TRUE(devices);
  if (devices->size() < 2) {
    ASSERT_EQ(notebook_.findings.size(), 1);
    EXPECT_EQ(notebook_.findings[0].severity, Severity::note);
    EXPECT_THAT(notebook_.findings[0].detail, HasSubstr("all-reduce was not measured"));
    return;
  }
  EXPECT_TRUE(notebook_.findings.empty());
  const std::string key =
      "link/all-reduce-over-" + std::to_string(devices->size()) + "-ranks/12288/1";
  std::map<std::string, std::vector<double>> values;
  for (const Value& value : notebook_.values) {
    if (value.cell == key) values[value.key].push_back(value.value);
  }
  ASSERT_EQ(values["latency"].size(), 5);
  ASSERT_EQ(values["bandwidth"].size(), 5);
  EXPECT_EQ(values["data_wrong"], std::vector<double>{0});
  EXPECT_NEAR(values["bandwidth"][0] * values["latency"][0],
              bus_bandwidth(devices->size(), 12288, 1) * 1e-3, 1e-6);
}

TEST(AllReduce, BusBandwidthIsTheFieldsDefinition) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(2, 1000, 1), 1000);
  EXPECT_DOUBLE_EQ(bus_bandwidth(4, 1000, 2), 750);
}

TEST(AllReduce, AnInterruptEndsAllRanks) {
  const std::atomic<bool> stop = true;
  const auto times = time_all_reduce({"cpu:0", "cpu:0"}, 4096, 5, stop);
  ASSERT_TRUE(times) << to_string(times.error());
  EXPECT_TRUE(times->seconds.empty());
}

TEST(AllReduce, ADeviceThatIsNotThereIsAnErrorAndNotAHang) {
  const std::atomic<bool> stop = false;
  const auto times = time_all_reduce({"cpu:0", "cpu:999"}, 4096, 5, stop);
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().code, Code::invalid_argument);
}

TEST_F(MachineExperiment, LinkLeavesOutSizesThatNoMemoryHoldsAndSaysSoOnce) {
  options_.num_rounds = 2;
  options_.link.sizes_bytes = {~uint64_t{0}, 1};
  Bench here = bench();
  ASSERT_TRUE(experiment("link").run(here));
  size_t num_told = 0;
  for (const Finding& finding : notebook_.findings) {
    num_told += finding.detail.find("were not measured") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(num_told, 1);
  for (const CellRecord& cell : notebook_.cells) {
    EXPECT_EQ(cell.target.at("size_bytes"), "4096") << "a row is the least";
  }
}

// The whole takes a minute: it is interrupted behind the machine's own figures.
TEST_F(MachineExperiment, KernelBeginsWithWhatTheMachineCanDoAndKeepsItAfterAnInterrupt) {
  options_.num_rounds = 1;
  Bench here = bench();
  here.progress = [&](const std::string& what, double fraction) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
    if (what.starts_with("kernel, linear")) stop_ = true;
  };
  ASSERT_TRUE(experiment("kernel").run(here));
  std::set<std::string> whats;
  for (const CellRecord& cell : notebook_.cells) {
    EXPECT_EQ(cell.experiment, "kernel");
    EXPECT_THAT(cell.target, AllOf(Contains(Key("what")), Contains(Key("threads"))));
    whats.insert(cell.target.at("what"));
  }
  EXPECT_THAT(whats,
              UnorderedElementsAre("read memory", "multiply-adds, int8", "multiply-adds, f32"));
  for (const Value& value : notebook_.values) EXPECT_GT(value.value, 0) << value.cell;
}

}  // namespace
}  // namespace evener::bench
