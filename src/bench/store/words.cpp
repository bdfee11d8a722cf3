#include "bench/store/words.h"

#include <array>

namespace evener::bench {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 6> kFinishes = {"stop",  "length",    "tool_calls",
                                                       "error", "cancelled", "timeout"};
constexpr std::array<std::string_view, 3> kCellStates = {"complete", "partial", "voided"};
constexpr std::array<std::string_view, 4> kRunStates = {"unfinished", "complete", "interrupted",
                                                        "failed"};
constexpr std::array<std::string_view, 3> kSeverities = {"note", "warning", "voids"};
constexpr std::array<std::string_view, 3> kChannels = {"reasoning", "content", "tool"};

template <class Enum, size_t kSize>
std::optional<Enum> find(const std::array<std::string_view, kSize>& words, std::string_view word) {
  for (size_t i = 0; i < kSize; ++i) {
    if (words[i] == word) return Enum(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_word(Finish finish) { return kFinishes[size_t(finish)]; }
std::string_view to_word(CellState state) { return kCellStates[size_t(state)]; }
std::string_view to_word(RunState state) { return kRunStates[size_t(state)]; }
std::string_view to_word(Severity severity) { return kSeverities[size_t(severity)]; }
std::string_view to_word(Channel channel) { return kChannels[size_t(channel)]; }

std::optional<Finish> finish_of(std::string_view word) { return find<Finish>(kFinishes, word); }
std::optional<CellState> cell_state_of(std::string_view word) {
  return find<CellState>(kCellStates, word);
}
std::optional<RunState> run_state_of(std::string_view word) {
  return find<RunState>(kRunStates, word);
}
std::optional<Severity> severity_of(std::string_view word) {
  return find<Severity>(kSeverities, word);
}

}  // namespace evener::bench
