#include "host/sysfs_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::host {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMiB = uint64_t{1} << 20;

Seen card(const std::string& rows) {
  const std::string head = "0000:05:00.0/vendor\t0x1002\n0000:05:00.0/device\t0x744c\n";
  const Sightings sightings = read_sysfs(head + rows);
  EXPECT_EQ(sightings.size(), 1U);
  return sightings.begin()->second;
}

std::string row(const std::string& field, const std::string& value) {
  return "0000:05:00.0/" + field + "\t" + value + "\n";
}

constexpr const char* kNone = "0x0000000000000000 0x0000000000000000 0x0000000000000000;";

TEST(SysfsText, ResourcesGiveAddressesAndSizes) {
  const Seen seen = card(
      row("resource", std::string("0x0000380400000000 0x000038040fffffff 0x000000000014220c;") +
                          kNone + "0x0000380410000000 0x00003804101fffff 0x000000000014220c;" +
                          kNone + "0x000000000000e000 0x000000000000e0ff 0x0000000000040101;" +
                          "0x00000000fb800000 0x00000000fb8fffff 0x0000000000040200;" + kNone));
  ASSERT_EQ(seen.function.bars.size(), 3U);
  EXPECT_EQ(seen.function.bars[0].base, 0x380400000000U);
  EXPECT_EQ(seen.function.bars[0].size_bytes, 256 * kMiB);
  EXPECT_EQ(seen.function.bars[1].index, 2U);
  EXPECT_EQ(seen.function.bars[2].index, 5U);
  EXPECT_EQ(seen.function.bars[2].prefetchable, false);
  EXPECT_TRUE(seen.bars_are_complete);
}

// The kernel keeps the size of a BAR that found no room, from address 0 on, and marks it as unset.
TEST(SysfsText, AResourceThatIsUnsetIsLost) {
  const Seen seen =
      card(row("resource", "0x0000000000000000 0x00000007ffffffff 0x000000002014220c;" +
                               std::string(kNone) + kNone + kNone + kNone + kNone + kNone));
  ASSERT_EQ(seen.function.bars.size(), 1U);
  EXPECT_EQ(seen.function.bars[0].size_bytes, 0U);
  EXPECT_FALSE(seen.function.bars[0].base.has_value());
}

TEST(SysfsText, ABridgesWindowsComeLast) {
  std::string seventeen;
  for (int i = 0; i < 14; ++i) seventeen += kNone;
  seventeen += "0x00000000fb000000 0x00000000fb0fffff 0x0000000000000200;";
  seventeen += "0x0000380400000000 0x000038043fffffff 0x0000000000102201;";
  const Seen with_virtual = card(row("class", "0x060400") + row("resource", seventeen + kNone));
  EXPECT_EQ(with_virtual.function.memory.size_bytes, kMiB);
  EXPECT_EQ(with_virtual.function.prefetchable.size_bytes, 1024 * kMiB);
  const std::string eleven = seventeen.substr(6 * std::string(kNone).size()) + kNone;
  const Seen without = card(row("resource", eleven));
  EXPECT_EQ(without.function.prefetchable.base, 0x380400000000U);
}

TEST(SysfsText, TheResizeFileHoldsSizesAsBits) {
  const Seen seen = card(row("resource0_resize", "0000000000000700;"));
  ASSERT_EQ(seen.function.bars.size(), 1U);
  EXPECT_THAT(*seen.function.bars[0].resizable, ElementsAre(256 * kMiB, 512 * kMiB, 1024 * kMiB));
}

TEST(SysfsText, TheRestOfADeviceIsRead) {
  const Seen seen =
      card(row("class", "0x030000;") + row("numa_node", "-1;") + row("driver", "amdgpu") +
           row("dma_mask_bits", "44;") + row("current_link_speed", "16.0 GT/s PCIe") +
           row("current_link_width", "16") + row("max_link_speed", "Unknown") +
           row("max_link_width", "255") + row("iommu_group", "33") + row("iommu_type", "DMA-FQ") +
           row("mem_info_vram_total", "25753026560;") + row("power1_cap", "300000000") +
           row("aer_dev_correctable", "RxErr 0;BadTLP 3;TOTAL_ERR_COR 3;") +
           row("path", "pci0000:00/0000:00:02.0/0000:05:00.0"));
  const Function& function = seen.function;
  EXPECT_EQ(function.class_code, 0x030000U);
  EXPECT_EQ(function.numa_node, -1);
  EXPECT_EQ(function.driver, "amdgpu");
  EXPECT_EQ(function.dma_mask_bits, 44U);
  EXPECT_EQ(function.link->now_gts, 16);
  EXPECT_FALSE(function.link->max_gts.has_value());
  EXPECT_FALSE(function.link->max_width.has_value());
  EXPECT_EQ(function.iommu_group, 33U);
  EXPECT_EQ(function.iommu, IommuMode::translated);
  EXPECT_EQ(seen.card.vram_bytes, 25753026560U);
  EXPECT_EQ(seen.card.power_limit_watts, 300);
  EXPECT_EQ(function.aer_correctable, 3U);
  EXPECT_EQ(function.parent, "0000:00:02.0");
}

TEST(SysfsText, NoGroupMeansThatTheIommuIsOffAndNoDriverThatNoneIsBound) {
  const Seen seen = card(row("dma_mask_bits", "32"));
  EXPECT_EQ(seen.function.iommu, IommuMode::off);
  EXPECT_EQ(seen.function.driver, "");
  EXPECT_FALSE(seen.function.dma_mask_bits.has_value());  // 32 is what every device starts with
}

TEST(SysfsText, ACardThatSleepsTellsNothingOfItsLink) {
  const Seen seen = card(row("power_state", "D3cold") + row("current_link_speed", "2.5 GT/s PCIe") +
                         row("current_link_width", "1") + row("max_link_width", "16"));
  EXPECT_EQ(seen.function.suspended, true);
  EXPECT_FALSE(seen.function.link->now_gts.has_value());
  EXPECT_FALSE(seen.function.link->now_width.has_value());
  EXPECT_EQ(seen.function.link->max_width, 16U);
}

TEST(SysfsText, PathsEndAtTheLastRootBus) {
  EXPECT_EQ(parent_in_path("pci0000:a0/0000:a0:02.0"), "0000:a0");
  EXPECT_EQ(parent_in_path("pci0000:64/0000:64:05.5/pci10000:e0/10000:e0:02.0/10000:e1:00.0"),
            "10000:e0:02.0");
  EXPECT_EQ(parent_in_path("pci0000:64/0000:64:05.5/pci10000:e0/10000:e0:02.0"), "10000:e0");
  EXPECT_EQ(parent_in_path(""), "");
  EXPECT_EQ(parent_in_path("../../pci0000:00"), "");
}

TEST(SysfsText, DamagedRowsAreLeftOut) {
  for (const char* text : {"0000:05:00.0/vendor 0x1002", "5/vendor\t0x1002", "\t", "/\t",
                           "0000:05:00.0\t/vendor", "0000:55:99.0/vendor\t1"}) {
    EXPECT_TRUE(read_sysfs(text).empty()) << text;
    EXPECT_FALSE(is_sysfs_line(text)) << text;
  }
  const Seen seen = card(row("resource", "0x0 0x1;junk;;0xfffffffffffffffff 0 0") +
                         row("resource9_resize", "ff") + row("resourceX_resize", "ff") +
                         row("numa_node", "banana") + row("max_link_width", "4000000000") +
                         row("mem_info_vram_total", "99999999999999999999"));
  EXPECT_TRUE(seen.function.bars.empty());
  EXPECT_FALSE(seen.function.link.has_value());
  EXPECT_FALSE(seen.card.vram_bytes.has_value());
}

}  // namespace
}  // namespace evener::host
