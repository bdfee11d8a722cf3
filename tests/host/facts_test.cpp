#include "host/facts.h"

#include <gtest/gtest.h>

namespace evener::host {
namespace {

HostFacts facts_with(std::vector<Function> functions) {
  HostFacts facts;
  facts.functions = std::move(functions);
  facts.roots.resize(1);
  facts.roots[0].bus = "0000:00";
  return facts;
}

Function child(std::string name, std::string parent) {
  Function function;
  function.name = std::move(name);
  function.parent = std::move(parent);
  function.address = parse_pci_address(function.name);
  return function;
}

std::vector<std::string> names_above(const HostFacts& facts, const std::string& name) {
  std::vector<std::string> names;
  for (const Function* port : ancestors(facts, name).ports) names.push_back(port->name);
  return names;
}

TEST(Facts, AncestorsGoUpToTheRootBus) {
  const HostFacts facts =
      facts_with({child("0000:00:02.0", "0000:00"), child("0000:01:00.0", "0000:00:02.0"),
                  child("0000:02:00.0", "0000:01:00.0")});
  EXPECT_EQ(names_above(facts, "0000:02:00.0"),
            (std::vector<std::string>{"0000:01:00.0", "0000:00:02.0"}));
  EXPECT_EQ(ancestors(facts, "0000:02:00.0").root, &facts.roots[0]);
}

TEST(Facts, AnUnknownParentEndsTheWayUpWithoutARoot) {
  const HostFacts facts = facts_with({child("a", "b"), child("b", "nobody"), child("c", "")});
  EXPECT_EQ(names_above(facts, "a"), std::vector<std::string>{"b"});
  EXPECT_EQ(ancestors(facts, "a").root, nullptr);
  EXPECT_EQ(ancestors(facts, "c").root, nullptr);
  EXPECT_TRUE(ancestors(facts, "not there").ports.empty());
}

TEST(Facts, ACycleOfParentsEnds) {
  const HostFacts facts =
      facts_with({child("a", "b"), child("b", "c"), child("c", "a"), child("d", "d")});
  EXPECT_EQ(names_above(facts, "a"), (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(names_above(facts, "d").empty());
  EXPECT_EQ(ancestors(facts, "a").root, nullptr);
}

TEST(Facts, ACycleThatDoesNotHoldTheFirstEndsToo) {
  const HostFacts facts = facts_with({child("a", "b"), child("b", "c"), child("c", "b")});
  EXPECT_EQ(names_above(facts, "a"), (std::vector<std::string>{"b", "c"}));
}

TEST(Facts, FunctionsAreFoundInAnyOrder) {
  HostFacts facts = facts_with(
      {child("leg2", ""), child("0000:05:00.0", ""), child("leg1", ""), child("0000:01:00.0", "")});
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"leg1", "leg2", "0000:05:00.0", "0000:01:00.0"}) {
      ASSERT_NE(find_function(facts, name), nullptr) << name;
      EXPECT_EQ(find_function(facts, name)->name, name);
    }
    EXPECT_EQ(find_function(facts, "leg3"), nullptr);
    EXPECT_EQ(find_function(facts, ""), nullptr);
    sort_functions(facts);
  }
  EXPECT_EQ(facts.functions.front().name, "0000:01:00.0");
  EXPECT_EQ(facts.functions.back().name, "leg2");
}

TEST(Facts, CardsWithoutANameGetOneThatIsFree) {
  HostFacts facts;
  facts.gpus.resize(28);
  facts.gpus[1].name = "A";
  name_nameless_gpus(facts);
  EXPECT_EQ(facts.gpus[0].name, "B");
  EXPECT_EQ(facts.gpus[1].name, "A");
  EXPECT_EQ(facts.gpus[2].name, "C");
  EXPECT_EQ(facts.gpus[26].name, "A1");
  EXPECT_EQ(facts.gpus[27].name, "B1");
}

}  // namespace
}  // namespace evener::host
