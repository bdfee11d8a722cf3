#include "bench/experiments/quality/json_tasks.h"

#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "bench/experiments/quality/schema.h"

namespace evener::bench {
namespace {

constexpr std::array kTasks = {
    JsonTask{
        .label = "person",
        .text = "Mara Lindqvist, 41 years old, works as a bridge engineer and is a member.",
        .schema = R"({"type":"object","additionalProperties":false,
            "required":["name","age","profession","member"],
            "properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0},
            "profession":{"type":"string"},"member":{"type":"boolean"}}})",
        .expected = R"({"/name":"Mara Lindqvist","/age":41,"/member":true})",
    },
    JsonTask{
        .label = "order",
        .text = "Order 7731 is shipped. It has two lines: 3 copper kettles at 24.5 each and 1 tin "
                "lantern at 12 each.",
        .schema = R"({"type":"object","additionalProperties":false,
            "required":["number","state","lines"],
            "properties":{"number":{"type":"integer"},
            "state":{"type":"string","enum":["open","shipped","returned"]},
            "lines":{"type":"array","minItems":1,"items":{"type":"object",
            "additionalProperties":false,"required":["article","quantity","price"],
            "properties":{"article":{"type":"string"},"quantity":{"type":"integer"},
            "price":{"type":"number"}}}}}})",
        .expected = R"({"/number":7731,"/state":"shipped","/lines/0/quantity":3,
            "/lines/0/price":24.5,"/lines/1/quantity":1,"/lines/1/price":12})",
    },
    JsonTask{
        .label = "nested settings",
        .text = "The pump runs in eco mode with a limit of 60 percent. Its alarm is off and would "
                "ring at levels low and high.",
        .schema = R"({"type":"object","additionalProperties":false,"required":["pump"],
            "properties":{"pump":{"type":"object","additionalProperties":false,
            "required":["mode","limit_percent","alarm"],"properties":{
            "mode":{"type":"string","enum":["eco","normal","boost"]},
            "limit_percent":{"type":"integer","minimum":0,"maximum":100},
            "alarm":{"type":"object","additionalProperties":false,"required":["on","levels"],
            "properties":{"on":{"type":"boolean"},"levels":{"type":"array",
            "items":{"type":"string","enum":["low","middle","high"]}}}}}}}})",
        .expected = R"({"/pump/mode":"eco","/pump/limit_percent":60,"/pump/alarm/on":false,
            "/pump/alarm/levels":["low","high"]})",
    },
    JsonTask{
        .label = "long list",
        .text = "List the squares of the whole numbers from 1 to 20, each with its number.",
        .schema = R"({"type":"object","additionalProperties":false,"required":["squares"],
            "properties":{"squares":{"type":"array","minItems":20,"maxItems":20,
            "items":{"type":"object","additionalProperties":false,
            "required":["number","square"],"properties":{"number":{"type":"integer"},
            "square":{"type":"integer"}}}}}})",
        .expected = R"({"/squares/0/square":1,"/squares/6/square":49,"/squares/12/square":169,
            "/squares/19/number":20,"/squares/19/square":400})",
    },
    JsonTask{
        .label = "quotes and line breaks",
        .text =
            "The sign has two lines. The first is: Say \"open\" twice. The second is: C:\\gate.",
        .schema = R"({"type":"object","additionalProperties":false,"required":["lines"],
            "properties":{"lines":{"type":"array","minItems":2,"maxItems":2,
            "items":{"type":"string"}}}})",
        .expected = R"({"/lines/0":"Say \"open\" twice.","/lines/1":"C:\\gate."})",
    },
};

json::Value parsed(const char* text) {
  auto value = json::parse(text, "task");
  EVENER_ASSERT(value.has_value());
  return *std::move(value);
}

}  // namespace

std::span<const JsonTask> json_tasks() { return kTasks; }

json::Value schema_of(const JsonTask& task) { return parsed(task.schema); }

std::string prompt_of(const JsonTask& task) {
  return fmt::format(
      "{}\n\nWrite this as one JSON object that follows this JSON Schema:\n{}\n\n"
      "Answer with the JSON object alone: no other word, no code fence.",
      task.text, schema_of(task).dump());
}

Judgement judge(const JsonTask& task, std::string_view answer) {
  const auto value = json::parse(answer, "the answer");
  if (!value) return Judgement::wrong(fmt::format("no JSON: {}", value.error().why));
  if (const auto problem = breaks_schema(schema_of(task), *value))
    return Judgement::wrong(*problem);
  if (const auto problem = lacks_values(parsed(task.expected), *value))
    return Judgement::wrong(*problem);
  return Judgement::right();
}

}  // namespace evener::bench
