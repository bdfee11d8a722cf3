#pragma once

#include <string>

#include "cli/command_line.h"

namespace evener::cli {

// An option whose value becomes a name that device::kv_type_from_name() knows.
void add_kv_option(CommandLine& line, const std::string& name, std::string& value,
                   const std::string& help = "how keys and values are kept");

}  // namespace evener::cli
