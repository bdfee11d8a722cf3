// Goal: the sums of windows are those that the kernel makes; the table is that of the reference,
// pci-p2p.md, 3.3.
#include "doctor/window.h"

#include <gtest/gtest.h>

#include "doctor/case.h"
#include "doctor/machines.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

uint64_t need(size_t num_cards, uint64_t bar, uint64_t small) {
  return side_by_side(std::vector<Room>(num_cards, Room{bar + small, bar, 1})).size;
}

TEST(Room, OfCardsSideBySideHasTheGapsOfTheirAlignment) {
  EXPECT_EQ(need(2, 256 * kMiB, 2 * kMiB), 770 * kMiB);
  EXPECT_EQ(need(2, 32 * kGiB, 2 * kMiB), 96 * kGiB + 2 * kMiB);
  EXPECT_EQ(need(2, 32 * kGiB, 0), 64 * kGiB);
  EXPECT_EQ(need(4, 32 * kGiB, 2 * kMiB), 224 * kGiB + 2 * kMiB);
  EXPECT_EQ(need(8, 32 * kGiB, 0), 256 * kGiB);
  EXPECT_EQ(need(0, 0, 0), 0u);
}

TEST(Room, SmallThingsFillTheGapAfterTheLastLargeOne) {
  const Room room = side_by_side({{2 * kMiB, 2 * kMiB, 0}, {32 * kGiB, 32 * kGiB, 1}});
  EXPECT_EQ(room.size, 32 * kGiB + 2 * kMiB);
  EXPECT_EQ(room.alignment, 32 * kGiB);
}

TEST(Room, OfASwitchIsThatOfItsLegs) {
  const host::HostFacts facts = below_switch();
  const Case c(facts);
  const Bridge& up = c.bridges.at(c.topology.find("up"));
  EXPECT_EQ(up.cards.size(), 2u);
  EXPECT_EQ(window_text(up.wanted->size), "96 GiB + 2 MiB");
}

TEST(Room, OfACardOfUnknownSizeIsUnknown) {
  host::HostFacts facts = below_switch();
  gpu(facts, "A").vram_bytes.reset();
  const Case c(facts);
  EXPECT_FALSE(c.bridges.at(c.topology.find("up")).wanted.has_value());
  EXPECT_TRUE(c.bridges.at(c.topology.find("leg-b")).wanted.has_value());
}

TEST(Sizes, AreWrittenInTheLargestUnitWithoutARest) {
  EXPECT_EQ(size_text(25'753'026'560), "24560 MiB");
  EXPECT_EQ(size_text(48 * kGiB), "48 GiB");
  EXPECT_EQ(size_text(uint64_t{1} << 44), "16 TiB");
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(window_text(64 * kGiB + 4 * kMiB), "64 GiB + 4 MiB");
  EXPECT_EQ(window_text(770 * kMiB), "770 MiB");
}

}  // namespace
}  // namespace evener::doctor
