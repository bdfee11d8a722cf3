// Goal: it is noticed when a driver moves a card's memory to the host, and only then. Method: a
// folder laid out as sysfs has it.
#include "device/vulkan/spill_watch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/temporary_folder.h"

namespace evener::device::vulkan {
namespace {

constexpr const char* kAddress = "0000:0a:00.0";
constexpr size_t kMiB = size_t{1} << 20;

class SpillWatchOf : public testing::Test {
 protected:
  void use(size_t gtt_bytes) {
    const auto path = folder_.path() / "bus/pci/devices" / kAddress / "mem_info_gtt_used";
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << gtt_bytes << '\n';
  }
  SpillWatch watch(const char* address = kAddress) const {
    return SpillWatch(address, folder_.path());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(SpillWatchOf, WhatWasMovedToTheHostIsNoticed) {
  use(20 * kMiB);
  const SpillWatch watched = watch();
  EXPECT_FALSE(watched.spilled_bytes(0).has_value());
  use(2000 * kMiB);
  EXPECT_EQ(watched.spilled_bytes(32 * kMiB), 1948 * kMiB);
}

TEST_F(SpillWatchOf, WhatIsThereOnPurposeOrWasThereBeforeIsNot) {
  use(500 * kMiB);
  const SpillWatch watched = watch();
  use(600 * kMiB);
  EXPECT_FALSE(watched.spilled_bytes(0).has_value());  // drivers keep a little there
  use(900 * kMiB);
  EXPECT_FALSE(watched.spilled_bytes(300 * kMiB).has_value());
  use(10 * kMiB);  // another program has ended
  EXPECT_FALSE(watched.spilled_bytes(0).has_value());
}

TEST_F(SpillWatchOf, ADriverThatDoesNotTellIsNotAccused) {
  const SpillWatch nobody = watch();
  use(5000 * kMiB);
  EXPECT_FALSE(nobody.spilled_bytes(0).has_value());
  EXPECT_FALSE(watch("").spilled_bytes(0).has_value());
}

TEST_F(SpillWatchOf, ItIsSaidOnce) {
  use(0);
  SpillWatch watched = watch();
  use(4000 * kMiB);
  testing::internal::CaptureStderr();
  watched.check(0);
  watched.check(0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the card at 0000:0a:00.0 is full: since this model was loaded it has moved "
                      "3.91 GiB to the host's memory"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("is full", said.find("is full") + 1), std::string::npos);
}

}  // namespace
}  // namespace evener::device::vulkan
