#pragma once

#include "doctor/report.h"
#include "host/facts.h"

namespace evener::doctor {

// Judges the facts by the rules of doctor/rules.cpp, in their order. Pure: the same facts give the
// same report; nothing is read and nothing is changed. Any facts are admissible, also ones that
// contradict themselves. Time is linear in the number of functions; pairs are judged among the
// first kCardsMax cards.
//
// Source: reference/host/pci-p2p.md, section 7. Judge: tests/doctor/cases_test.cpp and
// rules_test.cpp.
Report diagnose(const host::HostFacts& facts);

inline constexpr size_t kCardsMax = 64;

}  // namespace evener::doctor
