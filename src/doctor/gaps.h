#pragma once

#include <string>
#include <vector>

#include "doctor/case.h"

namespace evener::doctor {

// The facts that are missing before every gate of a pair can be called passed, in the order of the
// gates; none if a rule that stands above the gates (a guest) has decided.
std::vector<std::string> find_gaps(const Case& c, const Pair& pair);

}  // namespace evener::doctor
