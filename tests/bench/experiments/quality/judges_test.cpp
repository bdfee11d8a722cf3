#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/experiments/quality/code_tasks.h"
#include "bench/experiments/quality/json_tasks.h"
#include "bench/experiments/quality/needle.h"
#include "bench/experiments/quality/schema.h"
#include "bench/experiments/quality/tool_tasks.h"

namespace evener::bench {
namespace {

json::Value parsed(std::string_view text) {
  auto value = json::parse(text, "test");
  EXPECT_TRUE(value) << text;
  return value ? *value : json::Value();
}

std::optional<std::string> problem(std::string_view schema, std::string_view value) {
  return breaks_schema(parsed(schema), parsed(value));
}

TEST(Schema, NamesTheFirstPlaceThatBreaksIt) {
  const char* schema = R"({"type":"object","additionalProperties":false,"required":["a","b"],
      "properties":{"a":{"type":"integer","minimum":0,"maximum":9},
      "b":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x","y"]}}}})";
  EXPECT_EQ(problem(schema, R"({"a":1,"b":["x","y"]})"), std::nullopt);
  EXPECT_EQ(problem(schema, "[]"), "the answer is a list, not of type object");
  EXPECT_EQ(problem(schema, R"({"a":1})"), "/b is missing");
  EXPECT_EQ(problem(schema, R"({"a":1.5,"b":["x"]})"), "/a is a number, not of type integer");
  EXPECT_EQ(problem(schema, R"({"a":10,"b":["x"]})"), "/a is 10, out of range");
  EXPECT_EQ(problem(schema, R"({"a":1,"b":[]})"), "/b has 0 items, fewer than 1");
  EXPECT_EQ(problem(schema, R"({"a":1,"b":["x","x","x"]})"), "/b has 3 items, more than 2");
  EXPECT_EQ(problem(schema, R"({"a":1,"b":["z"]})"), R"(/b/0 is "z", none of ["x","y"])");
  EXPECT_EQ(problem(schema, R"({"a":1,"b":["x"],"c":0})"), "/c is not asked for");
}

TEST(JsonTasks, AcceptTheAnswerAndNothingAroundIt) {
  const JsonTask& person = json_tasks().front();
  const std::string good =
      R"({"name":"Mara Lindqvist","age":41,"profession":"bridge engineer","member":true})";
  EXPECT_EQ(judge(person, good).score, 1) << judge(person, good).why;
  EXPECT_EQ(judge(person, "\n " + good + "\n").score, 1);
  for (const std::string& bad :
       {std::string(), "Here it is: " + good, "```json\n" + good + "\n```", good + good,
        std::string("{\"name\":"), std::string(100'000, '['),
        std::string(R"({"name":"Mara Lindqvist","age":14,"profession":"x","member":true})")}) {
    EXPECT_EQ(judge(person, bad).score, 0) << bad.substr(0, 80);
    EXPECT_FALSE(judge(person, bad).why.empty());
  }
}

TEST(ToolTasks, JudgeTheNameAndTheArguments) {
  const ToolTask& tide = tool_tasks().front();
  const auto call = [](const std::string& name, const std::string& arguments) {
    json::Value calls = {{{"id", "1"},
                          {"type", "function"},
                          {"function", {{"name", name}, {"arguments", arguments}}}}};
    return calls.dump();
  };
  const std::string good = call("get_tide", R"({"harbour":"Ostwick","hour":7})");
  EXPECT_EQ(judge(tide, good).score, 1) << judge(tide, good).why;
  EXPECT_EQ(judge(tide, "").why, "no tool was called");
  EXPECT_EQ(judge(tide, call("set_lamp", "{}")).why, "set_lamp was called, not get_tide");
  EXPECT_EQ(judge(tide, call("get_tide", R"({"harbour":"Ostwick","hour":"7"})")).why,
            "/hour is a text, not of type integer");
  EXPECT_EQ(judge(tide, call("get_tide", R"({"harbour":"Ostwick","hour":19})")).why,
            "/hour is 19, not 7");
  EXPECT_EQ(judge(tide, call("get_tide", R"({"harbour":)")).score, 0);
  for (const char* nonsense : {"[]", "{}", "[1]", "[{}]", R"([{"function":3}])",
                               R"([{"function":{"name":"get_tide"}}])", "no JSON"}) {
    EXPECT_EQ(judge(tide, nonsense).score, 0) << nonsense;
  }
  const ToolTask& none = tool_tasks().back();
  EXPECT_EQ(judge(none, "").score, 1);
  EXPECT_EQ(judge(none, good).score, 0);
}

// The question takes the place of the text's own request; each needle stands at its depth.
TEST(Needles, StandAtTheirDepthAndAreCounted) {
  std::string hay = "nonce.\n\n";
  for (int i = 0; i < 1000; ++i) hay += "A short sentence. ";
  hay += "\n\nGo on with this story.";
  constexpr unsigned kDepths[] = {10, 50, 90};
  const std::vector<Needle> needles = make_needles(5, kDepths);
  const std::string text = hide(needles, hay);
  EXPECT_EQ(text.find("Go on"), std::string::npos);
  std::set<std::string> places;
  std::string all;
  for (const Needle& needle : needles) {
    const std::string sentence = "sentence. The secret number of " + needle.place + " is " +
                                 std::to_string(needle.number) + ". A short";
    const size_t at = text.find(sentence);
    ASSERT_NE(at, std::string::npos) << sentence;
    EXPECT_NEAR(100.0 * double(at) / double(text.size()), needle.depth_percent, 2);
    places.insert(needle.place);
    all += std::to_string(needle.number) + " ";
  }
  EXPECT_EQ(places.size(), 3U);
  EXPECT_EQ(judge(needles, all).score, 1);
  EXPECT_NEAR(judge(needles, std::to_string(needles[1].number)).score, 1.0 / 3, 1e-9);
  EXPECT_EQ(judge(needles, std::to_string(needles[1].number) + "0").score, 0)
      << "a longer number is another one";
}

// A solution of ours for each task, so that the hidden tests are known to be right.
struct Solved {
  const char* function;
  const char* code;
};
constexpr Solved kSolutions[] = {
    {"merge_spans",
     "def merge_spans(spans):\n    out = []\n    for a, b in sorted(spans):\n"
     "        if out and a <= out[-1][1]:\n            out[-1][1] = max(out[-1][1], b)\n"
     "        else:\n            out.append([a, b])\n    return out\n"},
    {"runs",
     "import itertools\ndef runs(text):\n"
     "    return [(c, len(list(g))) for c, g in itertools.groupby(text)]\n"},
    {"to_base",
     "def to_base(n, b):\n    if n < 0: return '-' + to_base(-n, b)\n"
     "    d = '0123456789abcdefghijklmnopqrstuvwxyz'\n"
     "    return d[n] if n < b else to_base(n // b, b) + d[n % b]\n"},
    {"seconds",
     "import re\ndef seconds(text):\n"
     "    m = re.fullmatch(r'(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+)s)?', text)\n"
     "    if not m or not text: return -1\n"
     "    h, m, s = (int(x or 0) for x in m.groups())\n    return 3600 * h + 60 * m + s\n"},
    {"rotate", "def rotate(rows):\n    return [list(r) for r in zip(*rows[::-1])]\n"},
    {"longest_climb",
     "def longest_climb(v):\n    best = run = 0\n    for i, x in enumerate(v):\n"
     "        run = run + 1 if i and x > v[i - 1] else 1\n        best = max(best, run)\n"
     "    return best\n"},
    {"wrap",
     "import textwrap\ndef wrap(text, width):\n    return textwrap.wrap(' '.join(text.split()), "
     "width,"
     " break_long_words=False)\n"},
    {"settle",
     "def settle(p):\n    b = {}\n    for x, y, a in p:\n        b[x] = b.get(x, 0) - a\n"
     "        b[y] = b.get(y, 0) + a\n    return [[n, b[n]] for n in sorted(b) if b[n]]\n"},
};

TEST(CodeTasks, AreSolvedBySolutionsAndByNothingElse) {
  const auto sandbox = Sandbox::open();
  if (!sandbox) GTEST_SKIP() << to_string(sandbox.error());
  ASSERT_EQ(code_tasks().size(), std::size(kSolutions));
  for (size_t i = 0; i < code_tasks().size(); ++i) {
    const CodeTask& task = code_tasks()[i];
    ASSERT_STREQ(task.function, kSolutions[i].function);
    const std::string code = kSolutions[i].code;
    const Judgement good = judge(task, "Sure:\n```python\n" + code + "```\nDone.", *sandbox);
    EXPECT_EQ(good.score, 1) << task.function << ": " << good.why;
    const std::string empty = "def " + std::string(task.function) + "(*a):\n    return []\n";
    EXPECT_EQ(judge(task, empty, *sandbox).score, 0) << task.function;
  }
}

TEST(CodeTasks, SurviveHostileCode) {
  const auto sandbox = Sandbox::open();
  if (!sandbox) GTEST_SKIP() << to_string(sandbox.error());
  const CodeTask& task = code_tasks()[5];
  const std::string name = task.function;
  for (const std::string& code : {
           std::string("def longest_climb(v: syntax error"),
           std::string("no such thing"),
           "import os\nos._exit(0)  # " + name,
           "import os\nos.write(3, b'[]')\nos._exit(0)  # " + name,
           "def " + name + "(v):\n    return " + name + "(v)\n",
           "def " + name + "(v):\n    return '\\ud800'\n",
           "def " + name + "(v):\n    return float('nan')\n",
           "class A(dict):\n    pass\ndef " + name +
               "(v):\n    a = {}\n    a['a'] = a\n    return a\n",
           std::string("def longest_climb(v): return 0\n#") + std::string(200'000, 'x'),
           std::string("def longest_climb(v):\n    return 0  # ") + '\0',
       }) {
    const Judgement judgement = judge(task, code, *sandbox);
    EXPECT_EQ(judgement.score, 0) << code.substr(0, 80);
    EXPECT_FALSE(judgement.why.empty()) << code.substr(0, 80);
  }
}

TEST(CodeTasks, FindTheCodeInAnAnswer) {
  const CodeTask& task = code_tasks()[1];
  EXPECT_EQ(code_of(task, "```\nx = 1\n```\nthen\n```py\ndef runs(t): pass\n```"),
            "def runs(t): pass\n");
  EXPECT_EQ(code_of(task, "```python\ndef runs(t): pass"), "def runs(t): pass");
  EXPECT_EQ(code_of(task, "def runs(t): pass"), "def runs(t): pass");
  EXPECT_EQ(code_of(task, "```"), "```");
}

}  // namespace
}  // namespace evener::bench
