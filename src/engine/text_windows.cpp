#include "engine/text_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace evener::engine {
namespace {

Error refuse(std::string why) {
  return {.code = Code::invalid_argument,
          .doing = "cut the text into windows",
          .where = {},
          .why = std::move(why),
          .remedy = {}};
}

}  // namespace

Result<std::vector<Window>> text_windows(size_t num_tokens, const WindowOptions& options) {
  const size_t window = std::min(options.num_tokens, num_tokens);
  const size_t stride = options.stride == 0 ? options.num_tokens : options.stride;
  if (window < 2)
    return refuse(fmt::format("a window of {} tokens has none with another before it", window));
  if (stride > options.num_tokens) {
    return refuse(fmt::format("a stride of {} would leave tokens out between windows of {}", stride,
                              options.num_tokens));
  }
  const size_t overlap = options.num_tokens - stride;
  const size_t wanted = options.num_unscored.value_or(overlap > 0 ? overlap : window / 2);
  const size_t num_unscored = std::max<size_t>(wanted, 1);  // nothing stands before the first one
  if (num_unscored >= window) {
    return refuse(fmt::format("with {} of {} tokens unscored none is left", num_unscored, window));
  }
  std::vector<Window> windows;
  for (size_t first = 0, scored = 0; scored < num_tokens && first + num_unscored < num_tokens;
       first += stride) {
    const size_t size = std::min(window, num_tokens - first);
    windows.push_back({.first = first, .num_tokens = size, .num_unscored = num_unscored});
    scored = first + size;
  }
  return windows;
}

}  // namespace evener::engine
