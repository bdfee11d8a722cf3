#pragma once

#include <string>

#include "doctor/changes.h"
#include "doctor/report.h"
#include "host/facts.h"

namespace evener::doctor {

// Facts and report as one JSON object for programs and for the page; the schema is in
// docs/doctor.md. Members that somebody may build on keep their name and meaning while `schema`
// stays 1. `changes` is null unless something was compared. Bytes that are not UTF-8 become U+FFFD.
// Ends in a newline. Any thread. Judge: tests/doctor/report_json_test.cpp.
std::string report_json(const host::HostFacts& facts, const Report& report,
                        const Changes* changes = nullptr);

}  // namespace evener::doctor
