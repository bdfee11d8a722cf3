// Where a card sits, read from the facts of a machine: those of the slot, not of what is on the
// card.
#include "cli/card_devices.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace evener::cli {
namespace {

using host::PortKind;

host::Function function(std::string name, std::string parent, std::optional<PortKind> port,
                        double gts) {
  host::Function made;
  made.name = std::move(name);
  made.parent = std::move(parent);
  made.address = host::parse_pci_address(made.name);
  made.port = port;
  made.is_bridge = port.has_value();
  made.link =
      host::Link{.max_gts = 16, .max_width = 16, .now_gts = gts, .now_width = 8, .under_load = {}};
  return made;
}

// A card with a switch of its own in a slot.
host::HostFacts switched_card() {
  host::HostFacts facts;
  facts.functions = {function("0000:00:01.0", "0000:00", PortKind::root, 8),
                     function("0000:01:00.0", "0000:00:01.0", PortKind::card_up, 8),
                     function("0000:02:00.0", "0000:01:00.0", PortKind::card_down, 16),
                     function("0000:03:00.0", "0000:02:00.0", {}, 16)};
  facts.functions[0].slot = "PCIE2";
  facts.functions[3].numa_node = 1;
  return facts;
}

TEST(CardSeat, ACardWithASwitchHasTheLinkOfItsSlot) {
  const CardSeat seat = seat_of(switched_card(), "0000:03:00.0");
  EXPECT_EQ(seat.slot, "PCIE2");
  EXPECT_EQ(seat.numa_node, 1);
  ASSERT_TRUE(seat.link.has_value());
  EXPECT_EQ(seat.link->now_gts, 8);
}

TEST(CardSeat, OfACardThatSleepsTheLinkIsNotKnown) {
  host::HostFacts facts = switched_card();
  facts.functions[1].suspended = true;
  EXPECT_FALSE(seat_of(facts, "0000:03:00.0").link.has_value());
}

TEST(CardSeat, NothingIsKnownOfAnAddressThatIsNotThere) {
  for (const char* const address : {"0000:04:00.0", "", "../.."}) {
    const CardSeat seat = seat_of(switched_card(), address);
    EXPECT_EQ(seat.slot, "");
    EXPECT_FALSE(seat.link.has_value());
  }
}

TEST(CardJson, SaysWhatIsKnownAndNothingElse) {
  ListedCard card;
  card.name = "vulkan:0";
  card.adapter.name = "Some Card";
  auto json = json_of(card);
  EXPECT_EQ(json["kind"], "vulkan");
  EXPECT_FALSE(json.contains("pci_address"));
  EXPECT_FALSE(json.contains("memory_free_bytes"));
  card.adapter.pci_address = "0000:03:00.0";
  card.adapter.free_bytes = 5;
  card.seat = seat_of(switched_card(), card.adapter.pci_address);
  json = json_of(card);
  EXPECT_EQ(json["pci_address"], "0000:03:00.0");
  EXPECT_EQ(json["memory_free_bytes"], 5);
  EXPECT_EQ(json["slot"], "PCIE2");
  EXPECT_EQ(json["link_gts"], 8);
  EXPECT_EQ(json["link_width_max"], 16);
}

}  // namespace
}  // namespace evener::cli
