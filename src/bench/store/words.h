#pragma once

#include <optional>
#include <string_view>

#include "bench/cell.h"
#include "bench/finding.h"
#include "bench/record.h"
#include "bench/run.h"

// The enumerations of a store as the words it holds: "tool_calls". Stable.

namespace evener::bench {

std::string_view to_word(Finish finish);
std::string_view to_word(CellState state);
std::string_view to_word(RunState state);
std::string_view to_word(Severity severity);
std::string_view to_word(Channel channel);

std::optional<Finish> finish_of(std::string_view word);
std::optional<CellState> cell_state_of(std::string_view word);
std::optional<RunState> run_state_of(std::string_view word);
std::optional<Severity> severity_of(std::string_view word);

}  // namespace evener::bench
