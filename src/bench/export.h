#pragma once

#include <functional>
#include <string_view>

#include "bench/run.h"

namespace evener::bench {

// The run as JSON lines, for other tools: first {"line": "header"}, then request, value, cell (with
// the figures that its records give), telemetry and finding lines. Without line ends.
// Source: reference/serving/bench.md, 7.
void export_lines(const Run& run, const std::function<void(std::string_view line)>& write);

}  // namespace evener::bench
