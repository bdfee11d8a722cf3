// Whole directories and dumps of real cards, with the right reading of them beside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "telemetry/amd_card.h"

namespace evener::telemetry {
namespace {

using testing::IsEmpty;

class Cases : public testing::Test {
 protected:
  void SetUp() override {
    std::error_code error;
    if (!std::filesystem::is_directory(kFolder, error)) GTEST_SKIP() << "no " << kFolder;
  }
  static CardReading read(const std::string& name, const std::string& card) {
    const host::FileTree files(kFolder / name / "input");
    return AmdCard(files, {"0000:03:00.0", "sys/class/drm/" + card + "/device"}).read(files);
  }

  static inline const std::filesystem::path kFolder =
      std::filesystem::path(EVENER_SHARED) / "cases" / "telemetry";
};

TEST_F(Cases, ARadeonOfThe7900sHasTheEndOfItsOverdriveTableAsItsLimit) {
  const CardReading card = read("t01-rx7900xtx-sysfs", "card0");
  EXPECT_EQ(card.busy, 0.03);
  EXPECT_EQ(card.power_w, 68);
  EXPECT_EQ(card.power_cap_w, 290);
  EXPECT_EQ(card.edge_celsius, 53);
  EXPECT_EQ(card.junction_celsius, 61);
  EXPECT_EQ(card.memory_celsius, 68);
  EXPECT_EQ(card.core_mhz_max, 2735);
  EXPECT_EQ(card.memory_mhz, 1249);
  EXPECT_THAT(card.throttle, IsEmpty());
}

TEST_F(Cases, ARadeonOfThe9070sHasAnOffsetAndItsTable) {
  const CardReading card = read("t02-rx9070-sysfs-metrics", "card1");
  EXPECT_EQ(card.busy, 0.25);
  EXPECT_EQ(card.power_w, 49);
  EXPECT_EQ(card.power_cap_w, 200);
  EXPECT_EQ(card.junction_celsius, 52);
  EXPECT_EQ(card.core_mhz_max, 2070);
  EXPECT_THAT(card.throttle, IsEmpty());
}

TEST_F(Cases, AnIdleCardWhoseHotspotBitIsSetDoesNotThrottle) {
  const CardReading card = read("t03-hotspot-bit-false-positive", "card1");
  EXPECT_THAT(card.throttle, IsEmpty());
}

TEST_F(Cases, AForgottenClockLimitIsSeen) {
  EXPECT_EQ(read("t12-silent-clock-limit", "card2").core_mhz_max, 1500);
}

}  // namespace
}  // namespace evener::telemetry
