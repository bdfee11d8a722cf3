#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/report.h"

namespace evener::doctor {

// Collects what rules find. What one rule says under one title of several cards or pairs becomes
// one finding about all of them.
class Findings {
 public:
  void add(std::string_view rule, Finding finding);

  // Problems first, in the order of judging otherwise.
  std::vector<Finding> sorted() &&;

 private:
  std::vector<Finding> list_;
  std::map<std::pair<std::string, std::string>, size_t> by_title_;
};

// Ids over all findings in the order to try them: what keeps data safe, what opens a closed gate,
// what verifies an open one, what was remarked; and last, for pairs that policy refuses for where
// the cards sit, to move them.
std::vector<std::string> order_of_fixes(const std::vector<Finding>& findings);

}  // namespace evener::doctor
