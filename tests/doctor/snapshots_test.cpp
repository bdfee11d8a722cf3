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
  EXPECT_EQ(lines_of(report),
            "4 GPUs, 6 pairs: 1 unknown and 5 blocked.\n"
            "A-B unknown root R38 R56 R82\n"
            "A-C blocked cross-host R30 R58\n"
            "A-D blocked cross-host R30 R58\n"
            "B-C blocked cross-host R30 R58\n"
            "B-D blocked cross-host R30 R58\n"
            "C-D blocked switch R30 R34 R50\n");
  const std::string words = words_of(report);
  EXPECT_NE(words.find("window of 0000:a1:00.0: 770 mib, needed 96 gib + 2 mib, 95 gib + 256 mib "
                       "short"),
            std::string::npos);
  EXPECT_NE(words.find("kernel 7.0.14-p2pdma is not one of upstream's"), std::string::npos);
}

TEST(Snapshots, OfAnX99WithHighBarsAreJudgedByTheTranslation) {
  const Report report = report_on("x99");
  EXPECT_EQ(lines_of(report),
            "2 GPUs, 1 pair: allowed. Should work, not verified: no data check was seen.\n"
            "A-B works root R38 R41 R55 R80\n");
  EXPECT_NE(find_finding(report, "R71"), nullptr) << "one of its links is half as wide as it could";
  EXPECT_EQ(report.bottleneck->port, "0000:06:00.0");
}

TEST(Snapshots, OfAnEpycWithFourCardsAreJudgedByTheDriversWord) {
  const Report report = report_on("epyc");
  EXPECT_EQ(lines_of(report),
            "4 GPUs, 6 pairs: 6 blocked.\n"
            "A-B blocked root R22 R54\n"
            "A-C blocked root R22 R54\n"
            "A-D blocked root R22 R54\n"
            "B-C blocked root R22 R54\n"
            "B-D blocked root R22 R54\n"
            "C-D blocked root R22 R54\n");
}

}  // namespace
}  // namespace evener::doctor
