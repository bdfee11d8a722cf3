#include "bench/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/notebook.h"
#include "telemetry/fake_tree.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

// A machine with one core, whose interval no test waits for.
class WatchTest : public testing::Test {
 protected:
  WatchTest() { set_throttle_count(5); }
  void set_throttle_count(int count) {
    tree_.write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                std::to_string(count));
  }
  void set_swapped(int pages) { tree_.write("proc/vmstat", "pswpin " + std::to_string(pages)); }
  WatchOptions options() {
    return {.sensors = {.root = tree_.root(), .own_processes = {}, .nvidia_smi = {}},
            .interval = 24h,
            .all_work_is_own = true,
            .claimed_cards = {}};
  }
  CellRecord cell(const std::string& key, Nanoseconds began) {
    CellRecord cell;
    cell.key = key;
    cell.experiment = "sweep";
    cell.began = began;
    cell.ended = notebook_.now();
    return cell;
  }

  telemetry::FakeTree tree_;
  Notebook notebook_;
};

TEST_F(WatchTest, HandsOnAllThatIsRecorded) {
  Watch watch(notebook_, options());
  watch.request(RequestRecord());
  watch.value({.cell = "a", .key = "k", .unit = {}, .value = 1});
  watch.finding({.fault = Fault::stall, .cell = "a", .request = {}, .detail = {}});
  ASSERT_TRUE(watch.end_cell(cell("a", {})));
  EXPECT_EQ(notebook_.requests.size(), 1);
  EXPECT_EQ(notebook_.values.size(), 1);
  EXPECT_EQ(notebook_.findings.size(), 1);
  ASSERT_EQ(notebook_.cells.size(), 1);
  EXPECT_EQ(notebook_.cells[0].state, CellState::complete);
}

TEST_F(WatchTest, ReadsAtTheBeginningAtTheEndOfEachCellAndAtItsOwnEnd) {
  {
    Watch watch(notebook_, options());
    EXPECT_GE(notebook_.num_samples, 1);
    const size_t before = notebook_.num_samples;
    ASSERT_TRUE(watch.end_cell(cell("a", {})));
    EXPECT_GT(notebook_.num_samples, before);
  }
  EXPECT_GE(notebook_.num_samples, 3);
}

// Swapping is read each time, throttle counters once a second: the first is what a short cell sees.
TEST_F(WatchTest, JudgesACellByWhatHappenedInIt) {
  set_swapped(1000);
  Watch watch(notebook_, options());
  set_swapped(5000);
  ASSERT_TRUE(watch.end_cell(cell("a", notebook_.now())));
  ASSERT_EQ(notebook_.findings.size(), 1);
  EXPECT_EQ(notebook_.findings[0].fault, Fault::swapped);
  EXPECT_EQ(notebook_.findings[0].cell, "a");
  EXPECT_EQ(notebook_.cells[0].state, CellState::complete) << "a warning voids nothing";

  ASSERT_TRUE(watch.end_cell(cell("b", notebook_.now())));
  EXPECT_EQ(notebook_.findings.size(), 1) << "the next cell has nothing to do with it";
}

TEST_F(WatchTest, VoidsACompleteCellAndLeavesAPartialOneSo) {
  const std::string card = tree_.add_function("pci0000:00/0000:03:00.0", "0x1002", "0x030000");
  tree_.link(card + "/driver", "../../../bus/pci/drivers/amdgpu");
  tree_.write(card + "/pp_dpm_sclk", "0: 500Mhz\n1: 2200Mhz\n");
  Watch watch(notebook_, options());
  Nanoseconds began = notebook_.now();
  tree_.write(card + "/pp_dpm_sclk", "0: 500Mhz\n1: 1500Mhz\n");
  ASSERT_TRUE(watch.end_cell(cell("a", began)));
  ASSERT_EQ(notebook_.findings.size(), 1);
  EXPECT_EQ(notebook_.findings[0].fault, Fault::clocks_moved);
  EXPECT_EQ(notebook_.cells[0].state, CellState::voided);

  began = notebook_.now();
  tree_.write(card + "/pp_dpm_sclk", "0: 500Mhz\n1: 1600Mhz\n");
  CellRecord partial = cell("b", began);
  partial.state = CellState::partial;
  ASSERT_TRUE(watch.end_cell(partial));
  EXPECT_EQ(notebook_.cells[1].state, CellState::partial);
}

TEST_F(WatchTest, ComparesTheStartOfACellWithTheFirstOfItsExperiment) {
  const std::string path = "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1";
  const std::string card = tree_.add_function("pci0000:00/0000:03:00.0", "0x1002", "0x030000");
  tree_.link(card + "/driver", "../../../bus/pci/drivers/amdgpu");
  tree_.write(path + "/name", "amdgpu\n");
  tree_.write(path + "/temp1_label", "edge\n");
  tree_.write(path + "/temp1_input", "40000\n");
  Watch watch(notebook_, options());
  ASSERT_TRUE(watch.end_cell(cell("a", notebook_.now())));
  tree_.write(path + "/temp1_input", "56000\n");
  ASSERT_TRUE(watch.end_cell(cell("b", notebook_.now())));
  EXPECT_THAT(notebook_.findings, IsEmpty()) << "it began where a ended";
  ASSERT_TRUE(watch.end_cell(cell("c", notebook_.now())));
  ASSERT_EQ(notebook_.findings.size(), 1);
  EXPECT_EQ(notebook_.findings[0].fault, Fault::thermal_drift);
  EXPECT_EQ(notebook_.findings[0].cell, "c");
}

}  // namespace
}  // namespace evener::bench
