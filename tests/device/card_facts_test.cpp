// Goal: what the kernel says of a card is read as it stands there, and nothing else is believed.
// Method: folders laid out as sysfs has them, with plain files.
#include "device/vulkan/card_facts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/temporary_folder.h"

namespace evener::device::vulkan {
namespace {

constexpr const char* kAddress = "0000:03:00.0";

class CardFactsOf : public testing::Test {
 protected:
  void say(const std::string& file, const std::string& text) {
    const auto path = folder_.path() / "bus/pci/devices" / kAddress / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  CardFacts read(std::string_view address = kAddress) const {
    return read_card_facts(address, folder_.path());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(CardFactsOf, AnAmdCardWithADisplay) {
  say("numa_node", "1\n");
  say("mem_info_vram_total", "25753026560\n");
  say("mem_info_vram_used", "734003200\n");
  say("mem_info_gtt_used", "20971520\n");
  say("drm/card1/card1-DP-1/status", "disconnected\n");
  say("drm/card1/card1-HDMI-A-1/status", "connected\n");
  const CardFacts facts = read();
  EXPECT_EQ(facts.numa_node, 1U);
  EXPECT_EQ(facts.vram_total_bytes, 25753026560U);
  EXPECT_EQ(facts.vram_used_bytes, 734003200U);
  EXPECT_EQ(facts.gtt_used_bytes, 20971520U);
  EXPECT_TRUE(facts.drives_display);
}

TEST_F(CardFactsOf, OneThatOnlyComputes) {
  say("numa_node", "-1\n");
  say("drm/card1/card1-DP-1/status", "disconnected\n");
  say("drm/card1/card1-DP-1/enabled", "disabled\n");
  say("drm/card1/card2-DP-1/status", "connected\n");  // not one of its own
  say("drm/renderD128/card1-DP-1/status", "connected\n");
  const CardFacts facts = read();
  EXPECT_FALSE(facts.numa_node.has_value());
  EXPECT_FALSE(facts.vram_total_bytes.has_value());
  EXPECT_FALSE(facts.drives_display);
  say("drm/card1/card1-DP-1/enabled", "enabled\n");
  EXPECT_TRUE(read().drives_display);
}

TEST_F(CardFactsOf, NumbersThatAreNoneAreNotKnown) {
  for (const std::string& text :
       {std::string(""), std::string("\n"), std::string(" 1\n"), std::string("1 \n"),
        std::string("0x10\n"), std::string("99999999999999999999\n"), std::string("1\0", 2),
        std::string(1 << 20, '1')}) {
    say("numa_node", text);
    say("mem_info_vram_total", text);
    EXPECT_FALSE(read().numa_node.has_value()) << text.substr(0, 30);
    EXPECT_FALSE(read().vram_total_bytes.has_value()) << text.substr(0, 30);
  }
  say("mem_info_vram_used/x", "");  // a folder where a file is to be
  EXPECT_FALSE(read().vram_used_bytes.has_value());
}

TEST_F(CardFactsOf, AnAddressIsNoPath) {
  say("numa_node", "1\n");
  for (const std::string_view address :
       {"", "0000:03:00.1", "03:00.0", "../devices/0000:03:00.0", "0000:03:00.0/", "0000:03:00.0 ",
        "0000:03:00.0\n", "....:..:....", "0000:03/00.0", "0000:0g:00.0"}) {
    EXPECT_FALSE(read(address).numa_node.has_value()) << address;
  }
  EXPECT_TRUE(read("0000:03:00.0").numa_node.has_value());
}

TEST_F(CardFactsOf, MoreConnectorsThanAnyCardHasAreNotAllLookedAt) {
  for (size_t i = 0; i < 300; ++i) {
    say("drm/card1/card1-DP-" + std::to_string(i) + "/status", "disconnected\n");
  }
  EXPECT_FALSE(read().drives_display);
}

}  // namespace
}  // namespace evener::device::vulkan
