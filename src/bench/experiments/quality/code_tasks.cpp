#include "bench/experiments/quality/code_tasks.h"

#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "base/json.h"
#include "bench/experiments/quality/schema.h"

namespace evener::bench {
namespace {

constexpr std::array kTasks = {
    CodeTask{
        .function = "merge_spans",
        .text = "merge_spans(spans) takes a list of [start, end] pairs of integers in any order "
                "and returns the sorted list of pairs that cover the same points, where pairs "
                "that overlap or touch (end equals start) have become one.",
        .tests =
            R"([[[[]],[]],[[[[5,7],[1,3]]],[[1,3],[5,7]]],[[[[1,4],[4,6],[8,9]]],[[1,6],[8,9]]],
            [[[[1,10],[2,3],[4,5]]],[[1,10]]],[[[[3,3],[-2,3]]],[[-2,3]]]])",
    },
    CodeTask{
        .function = "runs",
        .text = "runs(text) returns a list of [character, length] for each run of equal "
                "characters in the string, in order.",
        .tests = R"([[[""],[]],[["aaab"],[["a",3],["b",1]]],
            [["abba"],[["a",1],["b",2],["a",1]]],[["  x"],[[" ",2],["x",1]]]])",
    },
    CodeTask{
        .function = "to_base",
        .text = "to_base(number, base) returns the integer as a string in that base, 2 to 36, "
                "with lower-case letters for digits from ten on and a minus sign for numbers "
                "below zero.",
        .tests = R"([[[0,2],"0"],[[255,16],"ff"],[[-10,2],"-1010"],[[35,36],"z"],[[36,36],"10"],
            [[1000000007,10],"1000000007"]])",
    },
    CodeTask{
        .function = "seconds",
        .text = "seconds(text) reads a duration such as \"1h30m5s\" (hours, minutes and seconds "
                "in this order, each part at most once, at least one part, whole numbers) and "
                "returns its seconds; -1 if the text is anything else.",
        .tests = R"([[["1h30m5s"],5405],[["45m"],2700],[["2h7s"],7207],[["90s"],90],[[""],-1],
            [["5s3m"],-1],[["h"],-1],[["1h1h"],-1],[["10"],-1],[[" 1s"],-1]])",
    },
    CodeTask{
        .function = "rotate",
        .text = "rotate(rows) turns a grid, a list of rows of equal length, by a quarter to the "
                "right and returns it as a list of lists; an empty list stays one.",
        .tests = R"([[[[]],[]],[[[[1,2],[3,4]]],[[3,1],[4,2]]],[[[[1,2,3]]],[[1],[2],[3]]],
            [[[["a"],["b"]]],[["b","a"]]]])",
    },
    CodeTask{
        .function = "longest_climb",
        .text = "longest_climb(values) returns the length of the longest part of neighbours in "
                "the list in which each value is greater than the one before; 0 for an empty list.",
        .tests = R"([[[[]],0],[[[5]],1],[[[1,2,2,3,4]],3],[[[3,2,1]],1],[[[1,2,3,0,1,2,3,4]],5]])",
    },
    CodeTask{
        .function = "wrap",
        .text = "wrap(text, width) breaks a text at its spaces into a list of lines of at most "
                "width characters, each line as long as possible; words are separated by one "
                "space in a line; a word longer than width stands alone and uncut.",
        .tests = R"([[["",5],[]],[["a bb ccc",4],["a bb","ccc"]],
            [["one  two",20],["one two"]],[["extraordinary day",5],["extraordinary","day"]],
            [["aa bb cc dd",5],["aa bb","cc dd"]]])",
    },
    CodeTask{
        .function = "settle",
        .text = "settle(payments) takes a list of [payer, receiver, amount] and returns a list "
                "of [name, balance] sorted by name, the balance being what was received less "
                "what was paid; names whose balance is 0 are left out.",
        .tests = R"([[[[]],[]],[[[["a","b",5]]],[["a",-5],["b",5]]],
            [[[["a","b",5],["b","a",5]]],[]],
            [[[["z","m",10],["m","a",4],["a","z",1]]],[["a",3],["m",6],["z",-9]]],
            [[[["x","x",3]]],[]]])",
    },
};

// Reads the function, its name and the tests' arguments; prints what came out of each, or why
// nothing did. What the code prints itself goes nowhere.
constexpr const char* kHarness = R"python(
import json, os, sys
report, nowhere = os.dup(1), os.open('/dev/null', os.O_WRONLY)
os.dup2(nowhere, 1)
os.dup2(nowhere, 2)
code, name, tests = sys.argv[1:]

def attempt(f):
    try:
        return json.dumps({'value': f()}, allow_nan=False)
    except BaseException as error:
        return json.dumps({'error': type(error).__name__})

scope = {'__name__': 'answer'}
loaded = attempt(lambda: exec(compile(code, 'answer', 'exec'), scope))
results = [attempt(lambda: scope[name](*arguments)) for arguments in json.loads(tests)]
os.write(report, ('[' + ','.join([loaded] + results) + ']').encode())
os._exit(0)
)python";

json::Value tests_of(const CodeTask& task) {
  auto tests = json::parse(task.tests, "task");
  EVENER_ASSERT(tests.has_value());
  return *std::move(tests);
}

Judgement judge_results(const json::Value& tests, const std::string& printed) {
  const auto results = json::parse(printed, "what the code returned");
  if (!results || !results->is_array() || results->size() != tests.size() + 1)
    return Judgement::wrong("the code ended the program");
  if (const json::Value& loaded = results->front(); loaded.contains("error"))
    return Judgement::wrong(fmt::format("the code does not run: {}", shown(loaded["error"])));
  for (size_t i = 0; i < tests.size(); ++i) {
    const json::Value& result = (*results)[i + 1];
    if (!result.is_object() || !result.contains("value"))
      return Judgement::wrong(
          fmt::format("test {} of {} failed: {}", i + 1, tests.size(), shown(result)));
    if (result["value"] != tests[i][1])
      return Judgement::wrong(fmt::format("test {} of {} gave {}, not {}", i + 1, tests.size(),
                                          shown(result["value"]), shown(tests[i][1])));
  }
  return Judgement::right();
}

}  // namespace

std::span<const CodeTask> code_tasks() { return kTasks; }

std::string prompt_of(const CodeTask& task) {
  return fmt::format(
      "Write a Python 3 function. {}\n\nUse the standard library only. Answer with the function's "
      "code in one code block and nothing else.",
      task.text);
}

std::string code_of(const CodeTask& task, std::string_view answer) {
  constexpr std::string_view kFence = "```";
  const std::string definition = fmt::format("def {}", task.function);
  for (size_t open = answer.find(kFence); open != std::string_view::npos;) {
    const size_t begin = answer.find('\n', open);  // behind the language
    if (begin == std::string_view::npos) break;
    const size_t close = answer.find(kFence, begin);
    const std::string_view block = answer.substr(begin + 1, close - begin - 1);
    if (block.find(definition) != std::string_view::npos) return std::string(block);
    if (close == std::string_view::npos) break;
    open = answer.find(kFence, close + kFence.size());
  }
  return std::string(answer);
}

Judgement judge(const CodeTask& task, std::string_view answer, const Sandbox& sandbox) {
  const std::string code = code_of(task, answer);
  if (code.find(task.function) == std::string::npos)
    return Judgement::wrong(fmt::format("the answer defines no {}", task.function));
  const json::Value tests = tests_of(task);
  json::Value arguments = json::Value::array();
  for (const json::Value& test : tests) arguments.push_back(test[0]);
  const auto printed = sandbox.run(kHarness, {code, task.function, arguments.dump()}, {});
  if (!printed) return Judgement::wrong(fmt::format("the code {}", printed.error().why));
  return judge_results(tests, *printed);
}

}  // namespace evener::bench
