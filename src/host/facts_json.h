#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "host/facts.h"

namespace evener::host {

// facts.json as reference/host/snapshot-format.md, section 4, describes it, and members of our own
// for what HostFacts has beyond it (listed in docs/doctor.md): what was written reads back as it
// was. Members that nobody knows are ignored, except in `observed`, which keeps all.
//
// Addresses become their full form ("05:00.0" is "0000:05:00.0"). One that `placeholders` names is
// a label and leaves Function::address empty.
//
// Errors, where `where` names the file: corrupt (no JSON, a field of another kind, a name given
// twice), unsupported (another schema), limit_exceeded (more functions than any machine has).
// Judge: tests/host/facts_json_test.cpp.
Result<HostFacts> facts_from_json(std::string_view text, std::string_view where);

// One document with a newline at its end; the same facts give the same text.
std::string facts_to_json(const HostFacts& facts);

}  // namespace evener::host
