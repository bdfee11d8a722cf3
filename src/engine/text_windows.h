#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"

namespace evener::engine {

// How a text that is longer than a context is cut for measuring.
struct WindowOptions {
  size_t num_tokens = 512;  // read together, from an empty context; a shorter text is one window
  size_t stride = 0;        // from one window to the next; 0: the window, so that none overlap
  // Tokens at the head of a window that are read but not scored, 1 at least. Absent: what the
  // window before has scored, or half a window where none overlap.
  std::optional<size_t> num_unscored = {};
};

struct Window {
  size_t first = 0;  // its place in the text
  size_t num_tokens = 0;
  size_t num_unscored = 0;  // at its head
};

// The windows of a text; the last one is shorter where the text ends in it. Errors:
// invalid_argument (a text of fewer than two tokens, a window that would score nothing, a stride
// beyond the window).
Result<std::vector<Window>> text_windows(size_t num_tokens, const WindowOptions& options);

}  // namespace evener::engine
