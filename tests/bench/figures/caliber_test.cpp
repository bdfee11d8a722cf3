#include "bench/caliber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::bench {
namespace {

using testing::ElementsAre;
using testing::Field;

TEST(CaliberRule, HoldsWhatMustMatchAgainstWhatIsUnderTest) {
  using enum CaliberRule;
  EXPECT_EQ(caliber_rule("model.hash"), must_match);
  EXPECT_EQ(caliber_rule("host.cpu"), must_match);
  EXPECT_EQ(caliber_rule("device.0000:03:00.0.power_cap_w"), must_match);
  EXPECT_EQ(caliber_rule("device.0000:03:00.0.driver"), under_test);
  EXPECT_EQ(caliber_rule("method.cache"), must_match);
  EXPECT_EQ(caliber_rule("option.num_tokens_out"), must_match);
  EXPECT_EQ(caliber_rule("option.sweep.lengths"), for_readers);
  EXPECT_EQ(caliber_rule("option.coldstart.command"), under_test);
  EXPECT_EQ(caliber_rule("client.cpu"), for_readers);
  EXPECT_EQ(caliber_rule("server.version"), under_test);
  EXPECT_EQ(caliber_rule("server.url_kind"), must_match);
  EXPECT_EQ(caliber_rule("engine.kv_type"), under_test);
  EXPECT_EQ(caliber_rule("tool.version"), for_readers);
  EXPECT_EQ(caliber_rule("no.such"), must_match) << "unknown: the careful side";
}

TEST(CaliberHash, ChangesWithWhatMustMatchAndWithNothingElse) {
  const Caliber base = {{"model.hash", "aa"}, {"host.cpu", "x"}, {"server.version", "1"}};
  const std::string hash = caliber_hash(base);
  EXPECT_EQ(hash.size(), 16u);
  EXPECT_EQ(hash, "c61edf3c745854d6") << "reports print it: it must not change";

  Caliber other = base;
  other["server.version"] = "2";
  other["model.id"] = "tiny";  // the file's hash says more
  EXPECT_EQ(caliber_hash(other), hash);
  other["host.cpu"] = "y";
  EXPECT_NE(caliber_hash(other), hash);
  EXPECT_NE(caliber_hash({{"model.id", "a"}}), caliber_hash({{"model.id", "b"}}));
  // One text, cut at two places.
  EXPECT_NE(caliber_hash({{"method.a", "1\n8:method.b=1:2"}}),
            caliber_hash({{"method.a", "1"}, {"method.b", "2"}}));
}

TEST(Differences, AreSortedByWhetherTheyForbidAComparison) {
  const Caliber a = {{"host.cpu", "x"}, {"model.id", "tiny"}, {"tool.version", "1"}};
  const Caliber b = {{"host.cpu", "x"}, {"server.kind", "vllm"}, {"tool.version", "2"}};
  const auto found = differences(a, b);
  EXPECT_THAT(found, ElementsAre(Field(&CaliberDifference::name, "model.id"),
                                 Field(&CaliberDifference::name, "server.kind"),
                                 Field(&CaliberDifference::name, "tool.version")));
  EXPECT_EQ(found[0].in_a, "tiny");
  EXPECT_EQ(found[0].in_b, "");
  EXPECT_EQ(found[0].rule, CaliberRule::must_match);
  EXPECT_TRUE(differences(a, a).empty());
}

TEST(Differences, BetweenNamesOfOneFileAreForReaders) {
  const Caliber a = {{"model.id", "tiny"}, {"model.hash", "aa"}};
  Caliber b = {{"model.id", "/models/tiny.gguf"}, {"model.hash", "aa"}};
  EXPECT_EQ(differences(a, b)[0].rule, CaliberRule::for_readers);
  b.erase("model.hash");
  EXPECT_EQ(differences(a, b)[0].rule, CaliberRule::must_match);
}

TEST(Caliber, WhatOnlyOneMakeOfServerTellsOfItsModelForbidsNothing) {
  Caliber a = {{"server.kind", "evener"}, {"model.id", "tiny"}, {"model.hash", "aa"}};
  Caliber b = {{"server.kind", "llama_server"}, {"model.id", "tiny"}};
  const auto rule_of = [&](std::string_view name) {
    for (const auto& difference : differences(a, b)) {
      if (difference.name == name) return difference.rule;
    }
    return CaliberRule::under_test;
  };
  EXPECT_EQ(rule_of("model.hash"), CaliberRule::for_readers);
  b["model.hash"] = "bb";
  EXPECT_EQ(rule_of("model.hash"), CaliberRule::must_match) << "both know it";
  b.erase("model.hash");
  b["server.kind"] = "evener";
  EXPECT_EQ(rule_of("model.hash"), CaliberRule::must_match) << "of one make";
}

}  // namespace
}  // namespace evener::bench
