#include <gtest/gtest.h>

#include "telemetry/cores.h"
#include "telemetry/fake_tree.h"
#include "telemetry/rapl.h"
#include "telemetry/system_load.h"

namespace evener::telemetry {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

void write_core(FakeTree& tree, int cpu, const std::string& siblings, const std::string& khz) {
  const std::string path = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
  tree.write(path + "/topology/thread_siblings_list", siblings + "\n");
  tree.write(path + "/topology/physical_package_id", "0\n");
  tree.write(path + "/cpufreq/scaling_cur_freq", khz + "\n");
  tree.write(path + "/cpufreq/scaling_max_freq", "3600000\n");
  tree.write(path + "/thermal_throttle/core_throttle_count", "3\n");
  tree.write(path + "/thermal_throttle/package_throttle_count", "5\n");
}

HostReading read_cores(const FakeTree& tree) {
  HostReading reading;
  Cores(tree.files()).read(tree.files(), reading);
  return reading;
}

TEST(Cores, AreReadOncePerCoreAndPackagesOncePerPackage) {
  FakeTree tree;
  write_core(tree, 0, "0,2", "3000000");
  write_core(tree, 1, "1,3", "2000000");
  write_core(tree, 2, "0,2", "900000");
  write_core(tree, 3, "1,3", "900000");
  tree.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  tree.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "2200000\n");
  const HostReading reading = read_cores(tree);
  EXPECT_EQ(reading.cpu_mhz_mean, 2500);
  EXPECT_EQ(reading.cpu_mhz_min, 2000);
  EXPECT_EQ(reading.cpu_mhz_cap, 2200);
  EXPECT_EQ(reading.throttle_count, 3 + 3 + 5);
}

TEST(Cores, WithoutFilesOrWithGarbageGiveNothing) {
  FakeTree tree;
  write_core(tree, 0, "0", "<unsupported>");
  tree.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "99999999999999\n");
  tree.write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "-1\n");
  tree.remove("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count");
  const HostReading reading = read_cores(tree);
  EXPECT_EQ(reading.cpu_mhz_mean, std::nullopt);
  EXPECT_EQ(reading.cpu_mhz_cap, std::nullopt);
  EXPECT_EQ(reading.throttle_count, std::nullopt);
  EXPECT_EQ(reading.cpu_celsius, std::nullopt);
}

TEST(Cores, TheHottestPackageCountsAndNoSingleCore) {
  FakeTree tree;
  for (const auto& [hwmon, celsius] : {std::pair{"hwmon1", "51000"}, {"hwmon2", "64000"}}) {
    const std::string path = std::string("sys/class/hwmon/") + hwmon;
    tree.write(path + "/name", "coretemp\n");
    tree.write(path + "/temp1_label", "Package id 0\n");
    tree.write(path + "/temp1_input", celsius);
    tree.write(path + "/temp2_label", "Core 0\n");
    tree.write(path + "/temp2_input", "90000\n");
  }
  tree.write("sys/class/hwmon/hwmon3/name", "nvme\n");
  tree.write("sys/class/hwmon/hwmon3/temp1_label", "Package id 9\n");
  tree.write("sys/class/hwmon/hwmon3/temp1_input", "95000\n");
  EXPECT_EQ(read_cores(tree).cpu_celsius, 64);
}

TEST(Cores, AmdsDieIsBelievedBeforeItsControlValue) {
  FakeTree tree;
  const std::string path = "sys/class/hwmon/hwmon0";
  tree.write(path + "/name", "k10temp\n");
  tree.write(path + "/temp1_label", "Tctl\n");
  tree.write(path + "/temp1_input", "77000\n");
  EXPECT_EQ(read_cores(tree).cpu_celsius, 77);
  tree.write(path + "/temp2_label", "Tdie\n");
  tree.write(path + "/temp2_input", "50000\n");
  EXPECT_EQ(read_cores(tree).cpu_celsius, 50);
}

class Rapl : public testing::Test {
 protected:
  Rapl() {
    add_zone("intel-rapl:0", "package-1", "1000000");
    add_zone("intel-rapl:1", "package-0", "2000000");
    add_zone("intel-rapl:0:0", "core", "777");
    add_zone("intel-rapl:2", "psys", "777");
    add_zone("intel-rapl-mmio:0", "package-0", "777");
  }
  void add_zone(const std::string& zone, const std::string& name, const std::string& energy) {
    tree_.write("sys/class/powercap/" + zone + "/name", name + "\n");
    tree_.write("sys/class/powercap/" + zone + "/max_energy_range_uj", "65532610987\n");
    set_energy(zone, energy);
  }
  void set_energy(const std::string& zone, const std::string& energy) {
    tree_.write("sys/class/powercap/" + zone + "/energy_uj", energy + "\n");
  }

  FakeTree tree_;
};

TEST_F(Rapl, SumsPackagesOverTheTimeBetweenReadings) {
  PackagePower power(tree_.files());
  EXPECT_EQ(power.read_w(tree_.files(), Time(10s)), std::nullopt);
  set_energy("intel-rapl:0", "31000000");  // 30 J
  set_energy("intel-rapl:1", "12000000");  // 10 J
  for (const char* other : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"}) {
    set_energy(other, "70000000");
  }
  EXPECT_EQ(power.read_w(tree_.files(), Time(10s + 500ms)), 80);
  EXPECT_FALSE(power.missing());
}

TEST_F(Rapl, ACounterThatBeganAgainIsUnwound) {
  set_energy("intel-rapl:0", "65532610987");
  PackagePower power(tree_.files());
  power.read_w(tree_.files(), Time(10s));
  set_energy("intel-rapl:0", "50000000");
  EXPECT_EQ(power.read_w(tree_.files(), Time(11s)), 50);
}

TEST_F(Rapl, SaysNothingAfterAPauseInWhichTheCounterMayHaveBegunAgainTwice) {
  PackagePower power(tree_.files());
  power.read_w(tree_.files(), Time(10s));
  EXPECT_EQ(power.read_w(tree_.files(), Time(71s)), std::nullopt);
  set_energy("intel-rapl:0", "2000000");
  EXPECT_EQ(power.read_w(tree_.files(), Time(72s)), 1);
}

TEST_F(Rapl, GarbageIsNoPower) {
  PackagePower power(tree_.files());
  power.read_w(tree_.files(), Time(10s));
  for (const char* text : {"", "-5", "99999999999999999", "x"}) {
    set_energy("intel-rapl:0", text);
    EXPECT_EQ(power.read_w(tree_.files(), Time(11s)), std::nullopt) << text;
  }
}

TEST_F(Rapl, CountersThatMayNotBeReadAreNamedOnce) {
  for (const char* zone : {"intel-rapl:0", "intel-rapl:1"}) {
    tree_.remove(std::string("sys/class/powercap/") + zone + "/energy_uj");
  }
  PackagePower power(tree_.files());
  ASSERT_TRUE(power.missing());
  EXPECT_EQ(power.missing()->what, "power of the processors");
  EXPECT_EQ(power.missing()->why, "/sys/class/powercap/intel-rapl:0/energy_uj: there is none");
  EXPECT_EQ(power.read_w(tree_.files(), Time(10s)), std::nullopt);
  EXPECT_EQ(power.read_w(tree_.files(), Time(11s)), std::nullopt);
}

class Load : public testing::Test {
 protected:
  Load() {
    tree_.write("proc/loadavg", "1.50 1.00 0.50 3/106 12088\n");
    tree_.write("proc/pressure/cpu",
                "some avg10=12.50 avg60=1.00 avg300=0.00 total=5\nfull avg10=1.00 avg60=0.00\n");
    tree_.write("proc/meminfo", "MemTotal:  8000 kB\nMemAvailable:    4096 kB\n");
    tree_.write("proc/vmstat", "pgpgin 5\npswpin 77\npswpout 9\n");
    write_stat("100 0 50 1000 50 0 0 0 100 0");
  }
  void write_stat(const std::string& all) {
    tree_.write("proc/stat",
                "cpu  " + all + "\ncpu0 1 2 3\ncpu1 1 2 3\ncpu2 1\ncpu3 1\nintr 5 6\nctxt 9\n");
  }
  HostReading read(SystemLoad& load, Time now) {
    HostReading reading;
    load.read(tree_.files(), now, reading);
    return reading;
  }

  FakeTree tree_;
};

TEST_F(Load, IsReadFromWhatTheKernelSays) {
  SystemLoad load(tree_.files(), {});
  const HostReading reading = read(load, Time(1s));
  EXPECT_EQ(load.num_cpus(), 4);
  EXPECT_EQ(reading.load_average, 1.5);
  EXPECT_EQ(reading.cpu_pressure, 0.125);
  EXPECT_EQ(reading.memory_available_bytes, 4'194'304);
  EXPECT_EQ(reading.pages_swapped_in, 77);
  EXPECT_EQ(reading.cpus_busy, std::nullopt);
}

TEST_F(Load, WorkIsCountedInProcessorsBetweenTwoReadings) {
  SystemLoad load(tree_.files(), {});
  read(load, Time(1s));
  write_stat("160 0 70 1090 60 10 0 10 100 0");  // 90 busy, 100 idle, 10 stolen of 200
  const HostReading reading = read(load, Time(2s));
  EXPECT_DOUBLE_EQ(reading.cpus_busy.value(), 1.8);
  EXPECT_DOUBLE_EQ(reading.cpus_stolen.value(), 0.2);
  EXPECT_EQ(reading.cpus_own, std::nullopt);
}

TEST_F(Load, OwnWorkIsThatOfTheProcessesNamed) {
  const std::string before = "42 (a ) R name) S 1 42 42 0 -1 4194304 1 0 0 0 ";
  tree_.write("proc/42/stat", before + "100 50 9 9 20 0 1 0 5\n");
  tree_.write("proc/7/stat", "7 (x) S 1 7 7 0 -1 4194304 1 0 0 0 10 0 9 9 20 0 1 0 5\n");
  SystemLoad load(tree_.files(), {42, 7});
  read(load, Time(1s));
  tree_.write("proc/42/stat", before + "180 70 9 9 20 0 1 0 5\n");  // 100 ticks of 10 ms
  EXPECT_DOUBLE_EQ(read(load, Time(3s)).cpus_own.value(), 0.5);
  tree_.remove("proc/42");
  EXPECT_EQ(read(load, Time(4s)).cpus_own, std::nullopt);
}

TEST_F(Load, ATimeOfFewTicksSaysNothingAndIsCountedLater) {
  SystemLoad load(tree_.files(), {});
  read(load, Time(1s));
  write_stat("110 0 50 1000 50 0 0 0 100 0");
  EXPECT_EQ(read(load, Time(1s + 240ms)).cpus_busy, std::nullopt);
  write_stat("150 0 50 1050 50 0 0 0 100 0");  // 50 of 100 since the first
  EXPECT_DOUBLE_EQ(read(load, Time(1s + 250ms)).cpus_busy.value(), 2);
}

TEST_F(Load, GarbageIsAbsent) {
  SystemLoad load(tree_.files(), {1});
  tree_.write("proc/loadavg", "many\n");
  tree_.write("proc/pressure/cpu", "some avg10=1000 avg60\n");
  tree_.write("proc/meminfo", "MemAvailable: kB\n");
  tree_.write("proc/vmstat", "pswpin_remote 4\n");
  tree_.write("proc/1/stat", "1 (x S 1\n");
  write_stat("1 2 3");
  read(load, Time(1s));
  const HostReading reading = read(load, Time(2s));
  EXPECT_EQ(reading.load_average, std::nullopt);
  EXPECT_EQ(reading.cpu_pressure, std::nullopt);
  EXPECT_EQ(reading.memory_available_bytes, std::nullopt);
  EXPECT_EQ(reading.pages_swapped_in, std::nullopt);
  EXPECT_EQ(reading.cpus_busy, std::nullopt);
  EXPECT_EQ(reading.cpus_own, std::nullopt);
}

}  // namespace
}  // namespace evener::telemetry
