#include "host/config_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace evener::host {
namespace {

using testing::ElementsAre;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// A configuration space to be filled in by its offsets.
class Space {
 public:
  explicit Space(size_t size) : bytes_(size) { u16(0, 0x1002).u16(2, 0x744c); }

  Space& u8(size_t at, unsigned value) { return put(at, value, 1); }
  Space& u16(size_t at, unsigned value) { return put(at, value, 2); }
  Space& u32(size_t at, uint32_t value) { return put(at, value, 4); }
  Space& capabilities_at(unsigned at) { return u16(0x06, 0x10).u8(0x34, at); }

  Seen decode() const {
    Seen seen;
    decode_config_space(bytes_, seen);
    return seen;
  }

 private:
  Space& put(size_t at, uint32_t value, size_t size) {
    for (size_t i = 0; i < size; ++i) bytes_.at(at + i) = static_cast<uint8_t>(value >> (8 * i));
    return *this;
  }

  std::vector<uint8_t> bytes_;
};

Space bridge(size_t size) { return Space(size).u8(0x0e, 0x81).u8(0x19, 5).u8(0x1a, 7); }

TEST(ConfigSpace, BarsAreReadWithTheirUpperHalves) {
  const Seen seen = Space(64)
                        .u32(0x10, 0x0000000c)
                        .u32(0x14, 0x00003804)
                        .u32(0x18, 0x0000e001)  // ports
                        .u32(0x24, 0xfb800000)
                        .decode();
  ASSERT_EQ(seen.function.bars.size(), 2U);
  EXPECT_EQ(seen.function.bars[0].base, 0x380400000000U);
  EXPECT_EQ(seen.function.bars[0].prefetchable, true);
  EXPECT_EQ(seen.function.bars[0].is_64_bit, true);
  EXPECT_FALSE(seen.function.bars[0].size_bytes.has_value());  // registers do not say it
  EXPECT_EQ(seen.function.bars[1].index, 5U);
  EXPECT_EQ(seen.function.bars[1].prefetchable, false);
}

TEST(ConfigSpace, ABarWithoutAnAddressIsLost) {
  const Seen seen = Space(64).u32(0x10, 0x0000000c).decode();
  ASSERT_EQ(seen.function.bars.size(), 1U);
  EXPECT_EQ(seen.function.bars[0].size_bytes, 0U);
  EXPECT_FALSE(seen.function.bars[0].base.has_value());
}

TEST(ConfigSpace, ABridgeSaysWhatLiesBehindIt) {
  const Seen seen = bridge(64)
                        .u16(0x20, 0xd140)
                        .u16(0x22, 0xd170)
                        .u16(0x24, 0x0001)
                        .u16(0x26, 0x3ff1)
                        .u32(0x28, 0xc0)
                        .u32(0x2c, 0xc8)
                        .decode();
  EXPECT_TRUE(seen.function.is_bridge);
  EXPECT_EQ(seen.below->secondary, 5);
  EXPECT_EQ(seen.below->subordinate, 7);
  EXPECT_EQ(seen.function.memory.base, 0xd1400000U);
  EXPECT_EQ(seen.function.memory.size_bytes, 4 * kMiB);
  EXPECT_EQ(seen.function.prefetchable.base, 0xc000000000U);
  EXPECT_EQ(seen.function.prefetchable.size_bytes, 33 * kGiB);
}

TEST(ConfigSpace, AWindowWithItsBaseAboveItsLimitIsOff) {
  const Seen seen = bridge(64).u16(0x24, 0xfff1).u16(0x26, 0x0001).decode();
  EXPECT_EQ(seen.function.prefetchable.size_bytes, 0U);
  EXPECT_FALSE(seen.function.prefetchable.base.has_value());
}

// The check value of pci-p2p.md, 3.1: capability 0x0007f000, control 0x00000822.
TEST(ConfigSpace, ResizableBarGivesSizesAndTheCurrentOne) {
  Space space(4096);
  space.u32(0x18, 0xe000000c).u32(0x100, 0x15 | 1 << 16).u32(0x104, 0x0007f000);
  const Seen before = space.u32(0x108, 0x00000822).decode();
  const Seen after = space.u32(0x108, 0x00000e22).decode();
  ASSERT_EQ(before.function.bars.size(), 1U);
  EXPECT_EQ(before.function.bars[0].index, 2U);
  EXPECT_EQ(before.function.bars[0].size_bytes, 256 * kMiB);
  EXPECT_THAT(*before.function.bars[0].resizable,
              ElementsAre(256 * kMiB, 512 * kMiB, kGiB, 2 * kGiB, 4 * kGiB, 8 * kGiB, 16 * kGiB));
  EXPECT_EQ(after.function.bars[0].size_bytes, 16 * kGiB);
}

TEST(ConfigSpace, PortTypeLinkAndAtomicsAreRead) {
  const Seen seen = bridge(256)
                        .capabilities_at(0x60)
                        .u16(0x60, 0x0010)
                        .u16(0x62, 0x0142)         // version 2, root port, slot
                        .u32(0x6c, 0x3 | 16 << 4)  // Gen3 x16
                        .u16(0x72, 0x1 | 8 << 4)   // 2.5 GT/s x8
                        .u32(0x74, 4U << 19)
                        .u32(0x84, 0x1c0)
                        .decode();
  EXPECT_EQ(seen.function.port, PortKind::root);
  EXPECT_EQ(seen.function.slot, "4");
  EXPECT_EQ(seen.function.link->max_gts, 8);
  EXPECT_EQ(seen.function.link->max_width, 16U);
  EXPECT_EQ(seen.function.link->now_gts, 2.5);
  EXPECT_EQ(seen.function.link->now_width, 8U);
  EXPECT_EQ(seen.function.atomics->routing, true);
  EXPECT_EQ(seen.function.atomics->completer_64, true);
  EXPECT_FALSE(seen.function.acs.has_value());  // 256 bytes do not tell
}

TEST(ConfigSpace, AcsIsReadAndItsAbsenceIsKnown) {
  Space space = bridge(4096);
  space.u32(0x100, 0x0d | 1 << 16).u16(0x104, 0x5f).u16(0x106, 0x1d);
  const Seen with = space.decode();
  EXPECT_TRUE(with.function.acs->present);
  EXPECT_EQ(with.function.acs->control, 0x1d);
  EXPECT_TRUE(with.function.acs->redirects());
  const Seen without = bridge(4096).decode();
  ASSERT_TRUE(without.function.acs.has_value());
  EXPECT_FALSE(without.function.acs->present);
}

TEST(ConfigSpace, ListsThatGoInCirclesEnd) {
  const Seen seen = Space(4096)
                        .capabilities_at(0x50)
                        .u16(0x50, 0x5001)
                        .u32(0x100, 0x0d | 1 << 16 | 0x100U << 20)
                        .decode();
  EXPECT_TRUE(seen.function.acs->present);
}

TEST(ConfigSpace, AnyLengthIsRead) {
  for (size_t size = 0; size <= 300; ++size) {
    std::vector<uint8_t> bytes(size, 0xfe);
    Seen seen;
    decode_config_space(bytes, seen);
    EXPECT_EQ(seen.depth == ConfigDepth::none, size < 64);
  }
}

TEST(ConfigSpace, ADeviceThatFellOffTheBusIsNoDevice) {
  Seen seen;
  decode_config_space(std::vector<uint8_t>(256, 0xff), seen);
  EXPECT_TRUE(seen.is_gone);
  EXPECT_FALSE(seen.function.id.has_value());
}

TEST(ConfigSpace, SpeedCodesOfNoStandardStayUnknown) {
  EXPECT_EQ(link_speed(1), 2.5);
  EXPECT_EQ(link_speed(5), 32);
  EXPECT_FALSE(link_speed(0).has_value());
  EXPECT_FALSE(link_speed(15).has_value());
}

}  // namespace
}  // namespace evener::host
