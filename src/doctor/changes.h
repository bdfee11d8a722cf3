#pragma once

#include <string>
#include <vector>

#include "host/facts.h"

namespace evener::doctor {

// What differs between two looks at a machine, for people to read: "kernel: 7.0.14 -> 7.4.1",
// "A-B: blocked -> works", "R40 no longer applies". Empty lists: no difference that rules know of.
struct Changes {
  std::vector<std::string> facts;
  std::vector<std::string> verdicts;  // of pairs, then of rules
};

// Cards and ports are matched by their name. Judge: tests/doctor/changes_test.cpp.
Changes changes(const host::HostFacts& before, const host::HostFacts& now);

}  // namespace evener::doctor
