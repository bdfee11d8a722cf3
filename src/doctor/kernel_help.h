#pragma once

#include <string>
#include <vector>

#include "doctor/case.h"

namespace evener::doctor {

// What to do where a fix is the kernel's: the patch that adds the ids at hand to the allow list of
// the user's release, the configuration, the command line with its traps, and the check that must
// pass afterwards. Lines to show as they are; none if no such fix is offered.
std::vector<std::string> kernel_help(const Case& c, const std::vector<std::string>& fixes);

}  // namespace evener::doctor
