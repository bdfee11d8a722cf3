#pragma once

#include "base/error.h"

namespace evener::cli {

// Prints the error on stderr, as every command that fails does; returns its exit status.
int report_error(const Error& error);

}  // namespace evener::cli
