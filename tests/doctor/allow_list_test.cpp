#include "doctor/allow_list.h"

#include <gtest/gtest.h>

namespace evener::doctor {
namespace {

using Kind = ListAnswer::Kind;

ListAnswer ask(uint16_t device, const std::string& release, const std::string& patch = "") {
  host::RootBus root;
  root.bus = "0000:00";
  root.first.name = "0000:00:00.0";
  root.first.id = host::PciId{0x8086, device};
  root.first.is_root_port = false;
  host::Kernel kernel;
  kernel.release = release;
  if (!patch.empty()) kernel.patches = {patch};
  return ask_allow_list(root, kernel);
}

TEST(Release, IsReadFromWhatUnamePrints) {
  const auto name = parse_kernel_name("7.0.14-rebar");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->release, (Release{7, 0, 14}));
  EXPECT_TRUE(name->adds_windows_without_gaps());
  EXPECT_FALSE(name->is_upstream());
  EXPECT_TRUE(parse_kernel_name("7.4-rc2")->is_upstream());
  EXPECT_TRUE(parse_kernel_name("6.12.4")->is_upstream());
  EXPECT_EQ(parse_kernel_name("7.0.0 (distribution build)")->release, (Release{7, 0, 0}));
  for (const char* text : {"", "7", "x.1", "-1.2", "99999999999.1", "."}) {
    EXPECT_FALSE(parse_kernel_name(text).has_value()) << text;
  }
}

TEST(AllowList, EachEntryBeginsWithItsRelease) {
  EXPECT_EQ(ask(0x6f00, "7.4").kind, Kind::matched);
  EXPECT_EQ(ask(0x6f00, "7.3.9").kind, Kind::unmatched);
  EXPECT_EQ(ask(0x09a2, "5.18").kind, Kind::matched);
  EXPECT_EQ(ask(0x09a2, "5.17.3").kind, Kind::unmatched);
  EXPECT_EQ(ask(0x2032, "5.7").kind, Kind::matched);
  EXPECT_EQ(ask(0x2032, "5.6").kind, Kind::unmatched);
}

TEST(AllowList, NeighboursOfAnEntryAreNotListed) {
  EXPECT_EQ(ask(0x6f01, "9.0").kind, Kind::unmatched);
  EXPECT_EQ(ask(0x0e00, "9.0").kind, Kind::unmatched);
  EXPECT_EQ(ask(0x2f02, "9.0").kind, Kind::unmatched);
}

TEST(AllowList, APatchCountsForTheDevicesItNames) {
  EXPECT_TRUE(ask(0x6f00, "6.12", "whitelist entry 8086:6f00").by_patch);
  EXPECT_TRUE(ask(0x6f00, "6.12", "whitelist entry 8086:6f00").same_bridge);
  EXPECT_EQ(ask(0x6f00, "6.12", "whitelist entry 8086:0e00").kind, Kind::unmatched);
  EXPECT_EQ(ask(0x6f00, "6.12", "sound: fix 8086:6f00").kind, Kind::unmatched);
}

TEST(AllowList, WithoutTheReleaseOnlyWhatIsInNoneIsKnown) {
  EXPECT_EQ(ask(0x6f00, "").kind, Kind::unknown);
  EXPECT_FALSE(ask(0x6f00, "").why.empty());
  EXPECT_EQ(ask(0x4c43, "").kind, Kind::unmatched);
  EXPECT_FALSE(known_corruption({0x8086, 0x4c43}).empty());
}

}  // namespace
}  // namespace evener::doctor
