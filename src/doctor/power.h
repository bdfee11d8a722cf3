#pragma once

#include "doctor/case.h"

namespace evener::doctor {

// What a power supply has to give: the cards' limits as read, or as their makers state them, the
// rest by rule of thumb, and a reserve. Each assumption is a line of its own.
PowerEstimate estimate_power(const Case& c);

}  // namespace evener::doctor
