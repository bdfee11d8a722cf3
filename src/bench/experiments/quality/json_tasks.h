#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "bench/experiments/quality/judgement.h"

namespace evener::bench {

// A text from which the model is to make one JSON object of a given form.
struct JsonTask {
  const char* label;
  const char* text;
  const char* schema;
  const char* expected;  // JSON pointers to the values that the text holds
};

std::span<const JsonTask> json_tasks();

std::string prompt_of(const JsonTask& task);
json::Value schema_of(const JsonTask& task);

// Strict: the answer is one JSON value and nothing else (whitespace around it is), of the form that
// was asked for, with the values that the text holds.
Judgement judge(const JsonTask& task, std::string_view answer);

}  // namespace evener::bench
