#include "telemetry/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>
#include <mutex>

#include "telemetry/fake_tree.h"
#include "telemetry/nvidia_smi.h"
#include "telemetry/sampler.h"

namespace evener::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Time = std::chrono::steady_clock::time_point;

constexpr const char* kRow =
    "00000000:0B:00.0, NVIDIA GeForce RTX 3090, "
    "312.41, 350.00, 66, N/A, 1695, 2100, 9501, 98, "
    "20480, 4, 16, 0x0000000000000024\n";

TEST(NvidiaCsv, IsReadByPlaceInOurUnits) {
  const auto cards = parse_nvidia_csv(kRow);
  ASSERT_EQ(cards.size(), 1);
  EXPECT_EQ(cards[0].bus, "0000:0b:00.0");
  EXPECT_EQ(cards[0].name, "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(cards[0].power_w, 312.41);
  EXPECT_EQ(cards[0].power_cap_w, 350);
  EXPECT_EQ(cards[0].edge_celsius, 66);
  EXPECT_EQ(cards[0].memory_celsius, std::nullopt);
  EXPECT_EQ(cards[0].core_mhz, 1695);
  EXPECT_EQ(cards[0].core_mhz_max, 2100);
  EXPECT_EQ(cards[0].memory_mhz, 9501);
  EXPECT_EQ(cards[0].busy, 0.98);
  EXPECT_EQ(cards[0].memory_used_bytes, uint64_t{20480} << 20);
  EXPECT_EQ(cards[0].link_gts, 16);
  EXPECT_EQ(cards[0].link_width, 16);
  EXPECT_THAT(cards[0].throttle, ElementsAre("power", "thermal"));
}

TEST(NvidiaCsv, WhatIsNoCardIsLeftOut) {
  EXPECT_THAT(parse_nvidia_csv("No devices were found\n"), IsEmpty());
  EXPECT_THAT(parse_nvidia_csv(",,,,,,,,,,,,\n"), IsEmpty());
  EXPECT_THAT(parse_nvidia_csv("0B:00, x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"), IsEmpty());
  EXPECT_THAT(parse_nvidia_csv(std::string(100'000, ',')), IsEmpty());
  const auto cards = parse_nvidia_csv(
      "0000:0b:00.0, x, [N/A], -5, 1e9, , [Unknown Error], 0, "
      "x, 101, -1, 9, 64\n");
  ASSERT_EQ(cards.size(), 1);
  EXPECT_EQ(cards[0].power_w, std::nullopt);
  EXPECT_EQ(cards[0].power_cap_w, std::nullopt);
  EXPECT_EQ(cards[0].edge_celsius, std::nullopt);
  EXPECT_EQ(cards[0].core_mhz, std::nullopt);
  EXPECT_EQ(cards[0].busy, std::nullopt);
  EXPECT_EQ(cards[0].memory_used_bytes, std::nullopt);
  EXPECT_EQ(cards[0].link_gts, std::nullopt);
  EXPECT_EQ(cards[0].link_width, std::nullopt);
}

class SensorsTest : public testing::Test {
 protected:
  SensorsTest() {
    tree_.write("proc/loadavg", "0.50 1.00 0.50 3/106 12088\n");
    tree_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
  }
  // A program that answers as nvidia-smi of a driver that knows the field of reasons by `reasons`.
  std::string write_nvidia_smi(const std::string& reasons) {
    tree_.write("nvidia-smi", "#!/bin/sh\ncase \"$1\" in *" + reasons +
                                  "*) ;; *) echo 'Field is not a valid field to query.'; exit 2;; "
                                  "esac\necho x >> " +
                                  (tree_.root() / "calls").string() + "\nprintf '" + kRow + "'\n");
    const std::string path = tree_.root() / "nvidia-smi";
    EXPECT_EQ(::chmod(path.c_str(), 0700), 0);
    return path;
  }
  void add_nvidia_card() {
    nvidia_ = tree_.add_function("pci0000:00/0000:0b:00.0", "0x10de", "0x030000");
    tree_.link(nvidia_ + "/driver", "../../../bus/pci/drivers/nvidia");
  }
  Sensors open(const std::string& nvidia_smi = {}) {
    return Sensors::open({.root = tree_.root(), .own_processes = {}, .nvidia_smi = nvidia_smi});
  }
  size_t num_calls() const { return tree_.files().read("calls").value_or("").size() / 2; }

  FakeTree tree_;
  std::string nvidia_;
};

TEST_F(SensorsTest, AMachineThatShowsNothingGivesEmptySamples) {
  FakeTree empty;
  Sensors sensors =
      Sensors::open({.root = empty.root(), .own_processes = {}, .nvidia_smi = "/nothing"});
  const Sample sample = sensors.read(Time(1s));
  EXPECT_EQ(sample.host.load_average, std::nullopt);
  EXPECT_THAT(sample.cards, IsEmpty());
  EXPECT_THAT(sensors.missing(), IsEmpty());
}

TEST_F(SensorsTest, ClocksAreReadOnceASecondAndTheLoadEachTime) {
  Sensors sensors = open();
  EXPECT_EQ(sensors.read(Time(10s)).host.cpu_mhz_mean, 3000);
  const Sample between = sensors.read(Time(10s + 500ms));
  EXPECT_EQ(between.host.cpu_mhz_mean, std::nullopt);
  EXPECT_EQ(between.host.load_average, 0.5);
  EXPECT_EQ(sensors.read(Time(11s)).host.cpu_mhz_mean, 3000);
}

TEST_F(SensorsTest, NvidiasCardsAreAskedEveryTwoSecondsInTheWordsTheirDriverKnows) {
  add_nvidia_card();
  Sensors sensors = open(write_nvidia_smi("clocks_throttle_reasons.active"));
  EXPECT_THAT(sensors.missing(), IsEmpty());
  EXPECT_EQ(num_calls(), 1);
  EXPECT_EQ(sensors.read(Time(10s)).cards.size(), 1);
  EXPECT_THAT(sensors.read(Time(11s)).cards, IsEmpty());
  EXPECT_EQ(num_calls(), 2);
  EXPECT_EQ(sensors.read(Time(12s)).cards.size(), 1);
  EXPECT_EQ(num_calls(), 3);
}

TEST_F(SensorsTest, NvidiasSleepingCardIsNotWoken) {
  add_nvidia_card();
  tree_.write(nvidia_ + "/power/runtime_status", "suspended\n");
  Sensors sensors = open(write_nvidia_smi(""));
  EXPECT_THAT(sensors.read(Time(10s)).cards, IsEmpty());
  EXPECT_EQ(num_calls(), 0);
  ASSERT_EQ(sensors.missing().size(), 1);
  EXPECT_EQ(sensors.missing()[0].what, "sensors of NVIDIA's cards");
}

TEST_F(SensorsTest, WithoutNvidiasCardsItsProgramIsNotRun) {
  open(write_nvidia_smi("")).read(Time(10s));
  EXPECT_EQ(num_calls(), 0);
}

// Collects samples and lets a test wait for them.
class Samples {
 public:
  void add(const Sample& sample) {
    const std::lock_guard lock(mutex_);
    samples_.push_back(sample);
    more_.notify_all();
  }
  void wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return samples_.size() >= count; });
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return samples_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<Sample> samples_;
};

TEST_F(SensorsTest, ASamplerReadsUntilItIsStopped) {
  Samples samples;
  Sampler sampler(open(), 1ms, [&](const Sample& sample) { samples.add(sample); });
  samples.wait_for(3);
  sampler.stop();
  const size_t at_stop = samples.size();
  EXPECT_EQ(sampler.cost().num_samples, at_stop);
  sampler.stop();
  EXPECT_EQ(samples.size(), at_stop);
}

// An interval that no test would wait for: stopping does not either.
TEST_F(SensorsTest, ASamplerReadsAtItsBeginningAndItsEndHoweverShortTheRun) {
  Samples samples;
  {
    Sampler sampler(open(), 24h, [&](const Sample& sample) { samples.add(sample); });
    samples.wait_for(1);
  }
  EXPECT_EQ(samples.size(), 2);
}

TEST_F(SensorsTest, ASamplerReadsOutOfTurnWhenAsked) {
  Samples samples;
  Sampler sampler(open(), 24h, [&](const Sample& sample) { samples.add(sample); });
  samples.wait_for(1);
  sampler.sample_now();
  EXPECT_EQ(samples.size(), 2);
  sampler.sample_now();
  EXPECT_EQ(samples.size(), 3);
  sampler.stop();
  sampler.sample_now();
  EXPECT_EQ(samples.size(), 4) << "the one of the stop";
}

}  // namespace
}  // namespace evener::telemetry
