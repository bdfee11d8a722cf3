#pragma once

#include <string>

#include "doctor/report.h"

namespace evener::doctor {

// All that a report says to people, in lower case: what "must be said" is looked for in it.
std::string words_of(const Report& report);

}  // namespace evener::doctor
