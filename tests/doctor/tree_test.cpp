// The rows of the drawn tree: what is in them, in which order, and that no facts from outside can
// lose a card, draw one twice, or keep the program from ending.
#include "doctor/tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/sample_machine.h"

namespace evener::doctor {
namespace {

// "depth name kind", with a dot behind the last among siblings.
std::vector<std::string> lines_of(const host::HostFacts& facts) {
  constexpr const char* kKinds[] = {"bus", "unknown", "port", "card", "neighbour", "more"};
  std::vector<std::string> lines;
  for (const TreeRow& row : tree_of(facts)) {
    lines.push_back(fmt::format("{} {} {}{}", row.depth, row.name,
                                kKinds[static_cast<size_t>(row.kind)], row.is_last ? "." : ""));
  }
  return lines;
}

size_t num_cards(const host::HostFacts& facts) {
  const auto rows = tree_of(facts);
  return static_cast<size_t>(std::ranges::count(rows, TreeRow::Kind::gpu, &TreeRow::kind));
}

host::Function function(std::string name, std::string parent) {
  host::Function made;
  made.name = std::move(name);
  made.parent = std::move(parent);
  return made;
}

host::Gpu card_at(std::string name) {
  host::Gpu gpu;
  gpu.name = "card " + name;
  gpu.function = std::move(name);
  return gpu;
}

using Lines = std::vector<std::string>;

TEST(DoctorTree, HasWhatIsAboveTheCardsAndBesideThem) {
  EXPECT_EQ(lines_of(sample_machine()), (Lines{
                                            "0 0000:00 bus",
                                            "1 0000:00:02.0 port.",
                                            "2 R1 card.",  // without its sound function
                                            "0 0000:a0 bus.",
                                            "1 0000:a0:02.0 port.",
                                            "2 0000:a1:00.0 port.",
                                            "3 0000:a2:04.0 port",
                                            "4 X1 card.",
                                            "3 0000:a2:08.0 port",
                                            "4 X2 card.",
                                            "3 0000:a2:0c.0 neighbour.",
                                            "4 0000:a7:00.0 neighbour.",
                                        }));
}

// The registers of both ends speak of the one link between them, and either may be missing.
TEST(DoctorTree, HasALinkOnceAndAsFastAsBothEndsCan) {
  const auto row = [](const host::HostFacts& facts, size_t i) { return tree_of(facts)[i]; };
  host::HostFacts facts = sample_machine();  // the port can do Gen3, the card Gen4
  EXPECT_FALSE(row(facts, 1).link);
  EXPECT_EQ(row(facts, 2).link->max_gts, 8);
  EXPECT_EQ(row(facts, 2).link->now_gts, 2.5);
  facts.functions[1].link.reset();
  EXPECT_EQ(row(facts, 2).link->max_gts, 8);
  facts.functions[0].link.reset();
  EXPECT_FALSE(row(facts, 2).link);
}

TEST(DoctorTree, LeavesOutManyNeighboursAndSaysHowMany) {
  host::HostFacts facts = sample_machine();
  for (int i = 0; i < 9; ++i) {
    facts.functions.push_back(function(fmt::format("drive {}", i), "0000:00:02.0"));
  }
  const Lines lines = lines_of(facts);
  EXPECT_EQ(lines[2], "2 R1 card");
  EXPECT_EQ(lines[8], "2 drive 5 neighbour");
  EXPECT_EQ(lines[9], "2  more.");
  EXPECT_EQ(tree_of(facts)[9].num_left_out, 3U);
}

TEST(DoctorTree, ShowsCardsWhosePlaceIsNotKnown) {
  host::HostFacts facts;
  facts.functions = {function("a", "leg"), function("b", "")};
  facts.gpus = {card_at("a"), card_at("b"), card_at("nowhere")};
  EXPECT_EQ(lines_of(facts), (Lines{"0 leg unknown", "1 card a card.", "0  unknown.",
                                    "1 card b card", "1 card nowhere card."}));
}

TEST(DoctorTree, EndsWherePortsGoInACircle) {
  host::HostFacts facts;
  facts.functions = {function("a", "p"), function("p", "q"), function("q", "p"), function("x", "x"),
                     function("y", "q"), function("u", "v"), function("v", "u")};
  facts.gpus = {card_at("a"), card_at("x")};
  EXPECT_EQ(lines_of(facts), (Lines{"0  unknown.", "1 card a card", "1 card x card."}));
}

TEST(DoctorTree, DrawsACardOnceThoughItsNameOccursTwice) {
  host::HostFacts facts;
  facts.roots.resize(2);
  facts.roots[0].bus = facts.roots[1].bus = "0000:00";
  facts.functions = {function("a", "0000:00"), function("a", "0000:00")};
  facts.gpus = {card_at("a")};
  EXPECT_EQ(lines_of(facts), (Lines{"0 0000:00 bus.", "1 card a card."}));
}

// A chain of 10,000 ports and 10,000 cards at its end: linear, or this test would not end.
TEST(DoctorTree, TakesTenThousandFunctions) {
  host::HostFacts facts;
  for (int i = 0; i < 10'000; ++i) {
    facts.functions.push_back(function(fmt::format("p{}", i + 1), fmt::format("p{}", i)));
  }
  for (int i = 0; i < 10'000; ++i) {
    facts.functions.push_back(function(fmt::format("c{}", i), "p10000"));
    facts.gpus.push_back(card_at(fmt::format("c{}", i)));
  }
  EXPECT_EQ(num_cards(facts), 10'000U);
}

TEST(DoctorTree, OfNoCardsHasNoRows) {
  host::HostFacts facts = sample_machine();
  facts.gpus.clear();
  EXPECT_TRUE(tree_of(facts).empty());
}

}  // namespace
}  // namespace evener::doctor
