#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/experiments/quality/judgement.h"
#include "bench/experiments/sandbox.h"

namespace evener::bench {

// A small Python function to be written, and the tests that the model never sees.
struct CodeTask {
  const char* function;
  const char* text;
  const char* tests;  // JSON: [[arguments, what comes out], ...]
};

std::span<const CodeTask> code_tasks();

std::string prompt_of(const CodeTask& task);

// The code of an answer: its fenced block that defines the function, else all of it.
std::string code_of(const CodeTask& task, std::string_view answer);

// Runs the code in the sandbox. Right: every test came out as it must.
Judgement judge(const CodeTask& task, std::string_view answer, const Sandbox& sandbox);

}  // namespace evener::bench
