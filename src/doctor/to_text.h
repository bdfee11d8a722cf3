#pragma once

#include <string>

#include "doctor/changes.h"
#include "doctor/report.h"
#include "doctor/text_page.h"
#include "host/facts.h"

namespace evener::doctor {

// The report for people: the verdict, the machine, its tree, the pairs, what was found with
// evidence and fixes, how to use the cards, and what could not be known. Sections without content
// are left out. `report` is what the rules made of `facts`. Ends in a newline. Any thread. Judge:
// tests/doctor/to_text_test.cpp.
std::string to_text(const host::HostFacts& facts, const Report& report, const TextStyle& style);

// What --verify says: how this machine differs from what it was.
std::string to_text(const Changes& changes, const TextStyle& style);

}  // namespace evener::doctor
