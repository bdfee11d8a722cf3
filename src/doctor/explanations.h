#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "doctor/text_page.h"

namespace evener::doctor {

// What a rule asks and why, for whoever meets its id in a report.
struct Explanation {
  std::string_view rule;   // "R40"
  std::string_view title;  // what it found, in a few words
  std::string_view when;   // the condition
  std::string_view why;    // what is behind it
  std::string_view look;   // where to see it oneself
  std::string_view fixes;  // ids with spaces between them, in order of risk; may be empty
};

// All rules, in the order of judging.
std::span<const Explanation> explanations_of_facts();        // sections A to E
std::span<const Explanation> explanations_of_routes();       // F to I
const Explanation* find_explanation(std::string_view rule);  // null: there is no such rule

// What `evener doctor --explain ID` prints, of a rule (R40) or a fix (F04); either case of the
// letter. Errors: not_found, which lists what there is. Judge: tests/doctor/explanations_test.cpp.
Result<std::string> explain(std::string_view id, const TextStyle& style);

}  // namespace evener::doctor
