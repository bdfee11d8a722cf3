// Goal: whole snapshots, from text to verdict. Method: the three machines of tests/data/host/
// snapshots, whose facts tests/host checks; here is what follows from them.
#include <gtest/gtest.h>

#include "doctor/diagnose.h"
#include "doctor/machines.h"
#include "doctor/report_words.h"
#include "host/read_facts.h"

namespace evener::doctor {
namespace {

Report report_on(const std::string& name) {
  auto facts = host::read_facts(std::string(EVENER_TEST_DATA) + "/host/snapshots/" + name);
  EXPECT_TRUE(facts.has_value()) << to_string(facts.error());
  return facts ? diagnose(*facts) : Report();
}

std::string lines_of(const Report& report) {
  std::string text = report.summary + "\n";
  for (const PairReport& pair : report.pairs) {
    text += pair.a + "-" + pair.b + " " + std::string(to_string(pair.verdict)) + " " +
            std::string(to_string(pair.route));
    for (const std::string& rule : pair.rules) text += " " + rule;
    text += "\n";
  }
  return text;
}

TEST(Snapshots, OfAT7910IsJudgedLikeTheReportedOne) {
  const Report report = report_on("t7910");
  EXPECT_EQ(lines_of(report), "") << words_of(report);
}

TEST(Snapshots, OfAnX99WithHighBarsAreJudgedByTheTranslation) {
  const Report report = report_on("x99");
  EXPECT_EQ(lines_of(report), "") << words_of(report);
}

TEST(Snapshots, OfAnEpycWithFourCardsAreJudgedByTheDriversWord) {
  const Report report = report_on("epyc");
  EXPECT_EQ(lines_of(report), "") << words_of(report);
}

}  // namespace
}  // namespace evener::doctor
