#pragma once

#include <vector>

#include "doctor/case.h"

namespace evener::doctor {

// How the cards may share one model, the best way first, with the sums that say so. The example
// model is stated in each line: dense, 64 layers of 5120 channels.
std::vector<ModeAdvice> advise(const Case& c);

}  // namespace evener::doctor
