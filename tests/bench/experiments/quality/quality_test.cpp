#include <fmt/format.h>

#include "bench/experiments/experiment_bench.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/quality/json_tasks.h"

namespace evener::bench {

namespace {

constexpr const char* kPerson =
    R"({"name": "Mara Lindqvist", "age": 41, "profession": "bridge engineer", "member": true})";

// Knows one answer of each kind, finds any needle, and says nothing of use else.
std::vector<std::string> answer_of(const json::Value& body) {
  const std::string question = body["messages"].back()["content"].get<std::string>();
  if (question.find("Mara Lindqvist") != std::string::npos) return {kPerson};
  if (question.find("runs(text)") != std::string::npos)
    return {
        "```python\ndef runs(text):\n    out = []\n    for c in text:\n"
        "        if out and out[-1][0] == c: out[-1][1] += 1\n"
        "        else: out.append([c, 1])\n    return out\n```"};
  constexpr std::string_view kMark = "The secret number of ";
  std::vector<std::string> numbers;
  for (size_t at = question.find(kMark); at != std::string::npos;
       at = question.find(kMark, at + 1)) {
    const size_t is = question.find(" is ", at) + 4;
    numbers.push_back(question.substr(is, 5) + " ");
  }
  if (!numbers.empty()) return numbers;
  return {"I ", "do ", "not ", "know."};
}

class QualityTest : public testing::Test {
 protected:
  ExperimentBench bench_{scripted([&](Script& s) { s.answer = answer_of; })};
  void run(uint64_t needle_length = 512) {
    bench_.options.quality.needle_lengths = {needle_length};
    const Status done = bench_.run(quality_experiment);
    ASSERT_TRUE(done) << to_string(done.error());
  }
};

TEST_F(QualityTest, ScoresEveryAnswerAndNamesTheWrongOnes) {
  run();
  auto scores = bench_.values("score");
  EXPECT_EQ(scores["quality/json/1"], (std::vector<double>{1, 0, 0, 0, 0}));
  EXPECT_EQ(scores["quality/json_constrained/1"], (std::vector<double>{1, 0, 0, 0, 0}));
  EXPECT_EQ(scores["quality/tool_call/1"], (std::vector<double>{0, 0, 0, 0, 1}));
  for (const char* depth : {"10", "50", "90", "10+50+90"})
    EXPECT_EQ(scores[fmt::format("quality/needle-512-{}/1", depth)], std::vector<double>{1});
  if (bench_.cells().contains("quality/code/1")) {
    EXPECT_EQ(scores["quality/code/1"], (std::vector<double>{0, 1, 0, 0, 0, 0, 0, 0}));
  } else {
    EXPECT_NE(bench_.findings(Fault::not_measured).find("code tasks"), std::string::npos);
  }
  for (const CellRecord& cell : bench_.book().cells)
    EXPECT_EQ(cell.state, CellState::complete) << cell.key << ": speed is not what is judged";
  std::set<std::string> wrong;
  for (const Finding& finding : bench_.book().findings) {
    if (finding.fault == Fault::wrong_answer) wrong.insert(finding.request);
  }
  EXPECT_TRUE(wrong.contains("json order"));
  EXPECT_FALSE(wrong.contains("json person"));
  EXPECT_TRUE(wrong.contains("tool call, list"));
}

TEST_F(QualityTest, SendsTheSchemaAndTheTools) {
  run();
  bool has_schema = false;
  bool has_tools = false;
  for (const json::Value& body : bench_.server().bodies()) {
    const json::Value format = body.value("response_format", json::Value::object());
    if (format.value("type", "") == "json_schema")
      has_schema = has_schema || format["json_schema"]["schema"] == schema_of(json_tasks()[0]);
    has_tools = has_tools || body.value("tools", json::Value::array()).size() == 3;
  }
  EXPECT_TRUE(has_schema);
  EXPECT_TRUE(has_tools);
}

TEST_F(QualityTest, DoesNotRunCodeIfNotAsked) {
  bench_.options.quality.run_code = false;
  run();
  EXPECT_FALSE(bench_.cells().contains("quality/code/1"));
  EXPECT_EQ(bench_.findings(Fault::not_measured),
            "quality: code tasks: left out, as was asked for\n");
}

// A request that failed has no score: it says nothing about the model.
TEST_F(QualityTest, GivesNoScoreForFailures) {
  bench_.server().set(scripted([&](Script& s) {
    s.status = 500;
    s.answer = answer_of;
  }));
  run(50);  // too short for a needle: no prompt is made
  EXPECT_TRUE(bench_.values("score").empty());
  EXPECT_NE(bench_.findings(Fault::http_error), "");
}

}  // namespace
}  // namespace evener::bench
