// The JSON that programs and the page read; its members are a contract, docs/doctor.md.
#include "doctor/report_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "doctor/fixes.h"
#include "doctor/sample_machine.h"

namespace evener::doctor {
namespace {

using Json = nlohmann::ordered_json;

Json sample_json() { return Json::parse(report_json(sample_machine(), sample_report())); }

TEST(DoctorJson, HasTheMembersOfTheCasesUnderTheirNames) {
  const Json json = sample_json();
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["pairs"][0], Json::parse(R"({"a": "R1", "b": "X1", "verdict": "blocked",
      "verified": false, "route": "cross-host", "rules": ["R58"],
      "because": "different host bridges", "raw_gbs": null})"));
  EXPECT_EQ(json["pairs"][2]["verdict"], "works");
  EXPECT_EQ(json["pairs"][2]["route"], "switch");
  EXPECT_EQ(json["bars"],
            Json::parse(R"([{"gpu": "X1", "now": 268435456, "need": 25753026560, "max": null}])"));
  EXPECT_EQ(json["bottleneck"], Json::parse(R"({"hop": "0000:00:02.0", "gts": 8.0, "width": 16,
      "raw_gbs": 15.754, "idle": true})"));
  EXPECT_EQ(json["fixes"], Json::parse(R"(["F09", "F24"])"));
}

TEST(DoctorJson, HasFindingsAndWhatTheFixesAre) {
  const Json json = sample_json();
  EXPECT_EQ(json["findings_found"], true);
  EXPECT_EQ(json["findings"][0]["rule"], "R34");
  EXPECT_EQ(json["findings"][0]["severity"], "problem");
  EXPECT_EQ(json["findings"][0]["pairs"], Json::array({"X1-X2"}));
  EXPECT_EQ(json["fix_details"][1]["id"], "F24");
  EXPECT_EQ(json["fix_details"][1]["action"], std::string(find_fix("F24")->action));
  EXPECT_EQ(json["fix_details"][1]["risk"], "high");
  EXPECT_EQ(json["power"]["system_watts"], 1500.0);
  EXPECT_EQ(json["advice"][0]["mode"], "layer split");
  EXPECT_EQ(json["missing"][0]["remedy"], nullptr);
  EXPECT_FALSE(json.contains("changes"));
}

TEST(DoctorJson, HasTheTreeAsRowsInTheOrderOfDrawing) {
  const Json tree = sample_json()["tree"];
  ASSERT_EQ(tree.size(), 12U);
  EXPECT_EQ(tree[0], Json::parse(R"({"depth": 0, "kind": "root-bus", "name": "0000:00", "numa": 0,
      "first": "8086:6f00", "window": {"base": "0x380000000000", "bytes": 274877906944}})"));
  EXPECT_EQ(tree[1]["port"], "root");
  EXPECT_EQ(tree[1]["link"], nullptr);  // on the row of its lower end, as far as both ends go
  EXPECT_EQ(tree[2]["link"], Json::parse(R"({"max_gts": 8.0, "max_w": 16, "now_gts": 2.5,
      "now_w": 16, "under_load": null})"));
  EXPECT_EQ(tree[2]["kind"], "gpu");
  EXPECT_EQ(tree[2]["name"], "R1");
  EXPECT_EQ(tree[2]["bdf"], "0000:05:00.0");
  EXPECT_EQ(tree[2]["vram_bar"], 0);
  EXPECT_EQ(tree[2]["bars"][0]["bytes"], uint64_t{32} << 30);
  EXPECT_EQ(tree[6]["acs_redirects"], true);
  EXPECT_EQ(tree[8]["acs_redirects"], nullptr);  // not known is not false
  EXPECT_EQ(tree[10]["kind"], "neighbour");
}

TEST(DoctorJson, SaysWhatHasChangedIfSomethingWasCompared) {
  const Changes changes{.facts = {"x"}, .verdicts = {}};
  const Json json = Json::parse(report_json(sample_machine(), sample_report(), &changes));
  EXPECT_EQ(json["changes"], Json::parse(R"({"facts": ["x"], "verdicts": []})"));
}

TEST(DoctorJson, TakesNamesThatAreNotUtf8AndAMachineOfWhichNothingIsKnown) {
  host::HostFacts facts = sample_machine();
  facts.gpus[0].name = facts.gpus[0].model = facts.machine.board = "\xff\x1b";
  Report report = sample_report();
  report.pairs[0].a = report.findings[0].title = report.kernel_help[0] = "\xff";
  const Json json = Json::parse(report_json(facts, report));
  EXPECT_EQ(json["machine"]["board"], "\xef\xbf\xbd\x1b");
  EXPECT_EQ(json["pairs"][0]["a"], "\xef\xbf\xbd");

  const Json empty = Json::parse(report_json({}, {}));
  EXPECT_EQ(empty["findings_found"], false);
  EXPECT_EQ(empty["machine"]["iommu"], nullptr);
  EXPECT_EQ(empty["tree"], Json::array());
  EXPECT_EQ(empty["bottleneck"], nullptr);
}

}  // namespace
}  // namespace evener::doctor
